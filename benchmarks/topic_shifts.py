"""Features and fits of `core.archivist.topic_shift` over whole dialogues; for its training and its benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.archivist.drift import Vector, update_centroid
from core.archivist.topic_shift import Look, Scorer, Spoken, read_features

Rows = NDArray[np.float64]
RIDGE = 1e-3
KEPT_BY_FIRST = 0.97  # of what the second look cuts, the first must hold back
SAME = 1e-3  # a feature that differs less is the same everywhere


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A logistic regression over standardised features; the last weight is the bias."""

    means: Rows
    deviations: Rows
    weights: Rows

    def rate(self, rows: Rows) -> Rows:
        odds = ((rows - self.means) / self.deviations) @ self.weights[:-1] + self.weights[-1]
        rated: Rows = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
        return rated

    def as_scorer(self, threshold: float) -> Scorer:
        return Scorer(
            means=tuple(map(float, self.means)),
            deviations=tuple(map(float, self.deviations)),
            weights=tuple(map(float, self.weights[:-1])),
            bias=float(self.weights[-1]),
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
    """Fit by Newton's method; with a `prior` the ridge pulls towards its weights instead of towards 0.

    Features `without` keep the weight they start from.
    """
    means = rows.mean(0) if prior is None else prior.means
    spread = rows.std(0)
    deviations = np.where(spread < SAME, 1.0, spread) if prior is None else prior.deviations
    inputs = np.hstack([(rows - means) / deviations, np.ones((len(rows), 1))])
    origin = np.zeros(inputs.shape[1]) if prior is None else prior.weights
    counted = np.ones(len(rows)) if weights is None else weights
    pull = np.full(inputs.shape[1], ridge * counted.sum())
    pull[-1] = 1e-6  # the bias is free
    pull[list(without)] = 1e9
    found = origin.copy()
    for _ in range(80):
        rated = 1 / (1 + np.exp(-np.clip(inputs @ found, -50, 50)))
        curvature = (inputs * (counted * (rated * (1 - rated) + 1e-9))[:, None]).T @ inputs + np.diag(pull)
        step = np.linalg.solve(curvature, inputs.T @ (counted * (rated - begins)) + pull * (found - origin))
        found = found - step
        if np.abs(step).max() < 1e-7:
            break
    return Fit(means=means, deviations=deviations, weights=found)


def choose_hold(first: Fit, first_rows: Rows, second_cuts: NDArray[np.bool_]) -> float:
    """Return the first look's threshold: low enough that nearly all the second look cuts is held back."""
    rated = np.sort(first.rate(first_rows)[second_cuts])
    return float(rated[int((1 - KEPT_BY_FIRST) * len(rated))])
