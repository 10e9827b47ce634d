"""Features and fits of `core.archivist.topic_shift` over whole dialogues; for its training and its benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.logistic import Fit, Rows, fit, make_start
from core.archivist.drift import Vector, update_centroid
from core.archivist.topic_shift import Look, Scorer, Spoken, read_features

RIDGE = 1e-3
KEPT_BY_FIRST = 0.97  # of what the second look cuts, the first must hold back
HELD = 1e6  # the ridge of a weight that is to stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Messages with their vectors, and how many each segment has."""

    texts: Sequence[str]
    vectors: Sequence[bytes | None]
    lengths: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRows:
    """Features of the two looks at each message but the first of a dialogue, and whether it begins a segment."""

    first: list[tuple[float, ...]]
    second: list[tuple[float, ...]]
    begins: list[bool]


def read_gold(lengths: Sequence[int]) -> list[bool]:
    """Return for each message whether it begins a segment."""
    return [i == 0 for length in lengths for i in range(length)]


def read_rows(dialogue: Dialogue, model: str) -> LookRows:
    """Return the features at the true segments; messages without a vector are left out."""
    said = [Spoken(text=t, vector=v) for t, v in zip(dialogue.texts, dialogue.vectors, strict=True)]
    rows = LookRows(first=[], second=[], begins=[])
    start, count = 0, 1
    centroid: Vector | None = said[0].vector if said else None
    for i, begins in enumerate(read_gold(dialogue.lengths)):
        if i:
            following = said[i + 1] if i + 1 < len(said) else None
            looks = [
                Look(
                    before=tuple(said[max(start, i - 3) : i]),
                    centroid=centroid,
                    count=i - start,
                    message=said[i],
                    following=after,
                )
                for after in (None, following)
            ]
            first, second = (read_features(look, model) for look in looks)
            if first is not None and second is not None:
                rows.first.append(first)
                rows.second.append(second)
                rows.begins.append(begins)
        if begins:
            start, centroid, count = i, said[i].vector, 1
        else:
            updated = update_centroid(centroid, said[i].vector, count)
            centroid, count = updated.centroid, updated.count
    return rows


def as_scorer(fitted: Fit, threshold: float) -> Scorer:
    """Return the form of the product."""
    return Scorer(
        means=tuple(map(float, fitted.means)),
        deviations=tuple(map(float, fitted.deviations)),
        weights=tuple(map(float, fitted.weights[:-1])),
        bias=float(fitted.weights[-1]),
        threshold=threshold,
    )


def as_fit(scorer: Scorer) -> Fit:
    """Return a scorer as the fit it came from."""
    return Fit(
        means=np.array(scorer.means),
        deviations=np.array(scorer.deviations),
        weights=np.array([*scorer.weights, scorer.bias]),
    )


def fit_scorer(
    rows: Rows,
    begins: Rows,
    *,
    weights: Rows | None = None,
    prior: Fit | None = None,
    ridge: float = RIDGE,
    without: Sequence[int] = (),
) -> Fit:
    """Fit weights; with a `prior` the ridge pulls towards its weights instead of towards 0.

    Features `without` keep the weight they start from.
    """
    pull = np.full(rows.shape[1], ridge)
    pull[list(without)] = HELD
    counted = np.ones(len(rows)) if weights is None else weights
    return fit(rows, begins, counted=counted, pull=pull, start=prior or make_start(rows))


def choose_hold(first: Fit, first_rows: Rows, second_cuts: NDArray[np.bool_]) -> float:
    """Return the first look's threshold: low enough that nearly all the second look cuts is held back."""
    rated = np.sort(first.rate(first_rows)[second_cuts])
    return float(rated[int((1 - KEPT_BY_FIRST) * len(rated))])
