"""Ridge logistic regression over standardised columns, by Newton's method: for trainings and benchmarks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
SAME = 1e-3  # a column that differs less is the same everywhere
FREE = 1e-6  # the pull on a bias
ROUNDS = 80
CLOSE = 1e-7  # a step that moves no weight further is the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Weights over standardised columns; the last is the bias."""

    means: Rows
    deviations: Rows
    weights: Rows

    def find_odds(self, rows: Rows) -> Rows:
        """Return log-odds."""
        odds: Rows = ((rows - self.means) / self.deviations) @ self.weights[:-1] + self.weights[-1]
        return odds

    def rate(self, rows: Rows) -> Rows:
        """Return probabilities."""
        return _as_probability(self.find_odds(rows))


def make_start(rows: Rows, counted: Rows | None = None) -> Fit:
    """Return the fit that knows nothing but how the columns are spread; `counted` weighs the rows."""
    means = np.average(rows, axis=0, weights=counted)
    spread = np.sqrt(np.average((rows - means) ** 2, axis=0, weights=counted))
    return Fit(means=means, deviations=np.where(spread < SAME, 1.0, spread), weights=np.zeros(rows.shape[1] + 1))


def fit(rows: Rows, wanted: Rows, *, counted: Rows, pull: Rows, start: Fit) -> Fit:
    """Fit from `start`, whose standardisation stays and whose weights the ridge pulls towards.

    `pull` is each column's ridge, in shares of what is `counted`; the bias is free.
    """
    inputs = np.hstack([(rows - start.means) / start.deviations, np.ones((len(rows), 1))])
    pulls = np.append(pull * counted.sum(), FREE)
    found = start.weights.copy()
    for _ in range(ROUNDS):
        rated = _as_probability(inputs @ found)
        curvature = (inputs * (counted * (rated * (1 - rated) + 1e-9))[:, None]).T @ inputs + np.diag(pulls)
        slope = inputs.T @ (counted * (rated - wanted)) + pulls * (found - start.weights)
        step = np.linalg.solve(curvature, slope)
        found = found - step
        if np.abs(step).max() < CLOSE:
            break
    return Fit(means=start.means, deviations=start.deviations, weights=found)


def _as_probability(odds: Rows) -> Rows:
    probabilities: Rows = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
    return probabilities
