"""How much a message is worth noting: a linear scorer over plain features, what stands beside, and its vector.

Pure. No word of a model: a few kilobytes of weights, `resources/rules/saliency.toml`, over the vectors that are
computed anyway and the features of `saliency_features`; made by `benchmarks/train_saliency.py`, measured by
`benchmarks/saliency.py`. Without a vector, or with one of another embedding model, the features alone decide. Scores
are log-odds: above 0 rather worth noting than not; they are meant for ranking.
"""

import struct
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.embedding.signatures import find_by_signature
from core.paths import find_resources
from core.text.linear import Linear, read_columns
from core.working_memory.saliency_features import (
    CONTEXT_FEATURES,
    TEXT_FEATURES,
    read_beside,
    read_text,
)

SCRIPTS = ("latin", "cjk")  # with blanks between words, without: each has weights of its own
ALONE, AMONG = TEXT_FEATURES, (*TEXT_FEATURES, *CONTEXT_FEATURES)

_CJK = TEXT_FEATURES.index("cjk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of either side; `vector` is 384 little-endian float32, as the embedder gives and storage keeps it."""

    text: str
    vector: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights(Linear):
    """Log-odds of the features + the vector's weights times the vector."""

    vector: tuple[float, ...] = ()

    def rate(self, features: Sequence[float], vector: Sequence[float] = ()) -> float:
        """Return the log-odds; a vector must be as long as its weights."""
        return self.add_up(features) + sum(weight * value for weight, value in zip(self.vector, vector, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """The weights for one script."""

    alone: Weights  # of a text by itself
    among: Weights  # of a message between others
    alone_vector: Mapping[str, Weights]  # likewise with a vector, by the beginning of the embedding model's signature
    among_vector: Mapping[str, Weights]


def rate(message: Said, *, before: str | None, after: str | None, model: str | None = None) -> float:
    """Score a message between those beside it; None where there is none."""
    shown = read_text(message.text)
    scorer = _scorers()[_script(shown)]
    features = (*shown, *read_beside(before, after))
    return _rate(features, message.vector, scorer.among, find_by_signature(scorer.among_vector, model))


def rate_sentences(
    sentences: Sequence[str], *, vectors: Mapping[str, bytes] | None = None, model: str | None = None
) -> tuple[float, ...]:
    """Score texts that stand by themselves, such as the sentences a memory or a summary may take.

    `vectors` holds those that are known, by text; `model` is the signature of their model.
    """
    return tuple(_rate_alone(text, vectors.get(text) if vectors else None, model) for text in sentences)


def _script(shown: Sequence[float]) -> str:
    return SCRIPTS[int(shown[_CJK] > 0)]


def _rate_alone(text: str, vector: bytes | None, model: str | None) -> float:
    shown = read_text(text)
    scorer = _scorers()[_script(shown)]
    return _rate(shown, vector, scorer.alone, find_by_signature(scorer.alone_vector, model))


def _rate(features: Sequence[float], vector: bytes | None, plain: Weights, weights: Weights | None) -> float:
    """Score by the weights for vectors where there are both, and the vector has the length of its weights."""
    if weights is None or vector is None or len(vector) != 4 * len(weights.vector):
        return plain.rate(features)
    return weights.rate(features, struct.unpack(f"<{len(weights.vector)}f", vector))


@cache
def _scorers() -> dict[str, Scorer]:
    import tomllib

    file = find_resources() / "rules" / "saliency.toml"
    rules = tomllib.loads(file.read_text(encoding="utf-8"))
    models = rules.get("model", [])
    return {
        script: Scorer(
            alone=_read_weights(rules[script]["alone"], ALONE),
            among=_read_weights(rules[script]["among"], AMONG),
            alone_vector={str(m["signature"]): _read_weights(m[script]["alone"], ALONE) for m in models},
            among_vector={str(m["signature"]): _read_weights(m[script]["among"], AMONG) for m in models},
        )
        for script in SCRIPTS
    }


def _read_weights(table: Mapping[str, object], names: Sequence[str]) -> Weights:
    means, deviations, weights = read_columns(table, names)
    packed = b64decode(str(table.get("vector", "")))  # float16, little-endian
    return Weights(
        means=means,
        deviations=deviations,
        weights=weights,
        bias=float(str(table["bias"])),
        vector=struct.unpack(f"<{len(packed) // 2}e", packed),
    )
