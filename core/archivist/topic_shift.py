"""Whether a message leaves the topic: a linear scorer over what a conversation shows as it goes.

Pure. A cosine to the segment's centroid alone cuts chats of short messages badly; together with the messages
around it, the segment's length and the form of the messages it does much better. Two looks: the first when the
message arrives, the second, which decides, when the next one has (archivist.md section 5: a drift is held back for
one turn). The weights belong to an embedding model's signature: `resources/rules/topic_shift.toml`, made by
`benchmarks/train_topic_shift.py`. Features are language-neutral: no word lists but the stop words of `words`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import add, mul, sub

from core.archivist.drift import Vector, calibration, read_vector
from core.archivist.words import Terms, find_terms
from core.embedding.signatures import find_by_signature
from core.paths import find_resources
from core.text.linear import Linear, as_probability, read_columns
from core.text.tokens import estimate_tokens

NEAR = 3  # messages before whose words count
LONG_TOKENS = 40.0  # a message longer than that is long, whatever its length
LONG_SEGMENT = 12.0  # messages; likewise

FEATURES = (
    "one_before", "two_before", "segment", "second_before",  # cosines of the message to what came before it
    "next_one_before", "next_two_before", "next_segment", "next_message", "both_two_before", "both_segment",
    "segment_length", "segment_inverse_length", "segment_of_one",
    "shared_terms", "next_shared_terms", "next_terms_of_message",
    "length", "length_before", "question_before", "question", "next_question", "no_terms", "second_question_before",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A user's message as the checks see it."""

    text: str
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A message, what came before it in its segment, and the next message where it is known."""

    before: tuple[Spoken, ...]  # the segment's last messages, oldest first; at least one
    centroid: Vector | None  # of the segment's messages before this one
    count: int  # how many those are
    message: Spoken
    following: Spoken | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer(Linear):
    """Weights of one look."""

    threshold: float  # a probability above it is another topic

    def rate(self, features: Sequence[float]) -> float:
        """Return the probability that the message leaves the topic."""
        return as_probability(self.add_up(features))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorers:
    """The two looks of one embedding model."""

    first: Scorer
    second: Scorer


def find_scorers(model: str | None) -> Scorers | None:
    """Return the scorers of a model, by its signature's beginning; None for one that was not measured."""
    return find_by_signature(_table(), model)


def leaves_topic(look: Look, scorer: Scorer, model: str | None) -> bool | None:
    """Whether a look says that the message leaves the topic; None where vectors are missing."""
    features = read_features(look, model)
    return None if features is None else scorer.rate(features) > scorer.threshold


def read_features(look: Look, model: str | None) -> tuple[float, ...] | None:
    """Return a look's features in the order of `FEATURES`; None where the vectors cannot be compared."""
    mean = calibration(model).mean
    own, centroid = _direct(look.message.vector, mean), _direct(look.centroid, mean)
    before = [vector for said in look.before[-2:] if (vector := _direct(said.vector, mean)) is not None]
    if own is None or centroid is None or not before:
        return None
    two = before[-1] if len(before) == 1 else _unit(tuple(map(add, before[0], before[1])))
    first = (_dot(before[-1], own), _dot(two, own), _dot(centroid, own), _dot(before[0], own))
    following = _direct(look.following.vector, mean) if look.following else None
    if following is None:
        second = (first[0], first[1], first[2], 0.3, first[1], first[2])  # 0.3: what messages of one topic have
    else:
        both = _unit(tuple(map(add, own, following)))
        second = (
            *(_dot(before[-1], following), _dot(two, following), _dot(centroid, following), _dot(own, following)),
            *(_dot(two, both), _dot(centroid, both)),
        )
    length = (min(look.count, LONG_SEGMENT) / LONG_SEGMENT, 1 / max(1, look.count), float(look.count == 1))
    return (*first, *second, *length, *_read_words(look))


def _read_words(look: Look) -> tuple[float, ...]:
    near, own = find_terms([said.text for said in look.before[-NEAR:]]), find_terms([look.message.text])
    next_terms = find_terms([look.following.text]) if look.following else None
    return (
        _share(own, near),
        _share(next_terms, near) if next_terms else 0.0,
        _share(next_terms, own) if next_terms else 0.0,
        _read_length(look.message.text),
        _read_length(look.before[-1].text),
        _asks(look.before[-1].text),
        _asks(look.message.text),
        _asks(look.following.text) if look.following else 0.0,
        float(len(own) == 0),
        _asks(look.before[-2].text) if len(look.before) > 1 else 0.0,
    )


def _share(terms: Terms, of: Terms) -> float:
    """How many of some terms occur among others, of one more than there are."""
    return (len(terms.words & of.words) + len(terms.pairs & of.pairs)) / (len(terms) + 1)


def _read_length(text: str) -> float:
    return min(float(estimate_tokens(text[:400])), LONG_TOKENS) / LONG_TOKENS


def _asks(text: str) -> float:
    return float("?" in text or "？" in text)


def _direct(vector: Vector | None, mean: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Return a vector around the model's mean, of length one."""
    read = read_vector(vector)
    if read is None or (mean is not None and len(mean) != len(read)):
        return None
    return _unit(read if mean is None else tuple(map(sub, read, mean)))


def _unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    length = math.hypot(*vector) or 1.0
    return tuple(value / length for value in vector)


def _dot(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(map(mul, a, b)) if len(a) == len(b) else 0.0


@cache
def _table() -> dict[str, Scorers]:
    import tomllib

    file = find_resources() / "rules" / "topic_shift.toml"
    rules = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        str(entry["signature"]): Scorers(first=_read_scorer(entry["first"]), second=_read_scorer(entry["second"]))
        for entry in rules.get("model", [])
    }


def _read_scorer(table: dict[str, object]) -> Scorer:
    means, deviations, weights = read_columns(table, FEATURES)
    return Scorer(
        means=means,
        deviations=deviations,
        weights=weights,
        bias=float(str(table["bias"])),
        threshold=float(str(table["threshold"])),
    )
