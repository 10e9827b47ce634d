"""Linear scorers over features of a text: weights as data, log-odds, probabilities.

Pure. The weights are made by benchmarks and stand in `resources/rules`, a row of mean, deviation and weight a feature.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Column = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """Log-odds = bias + sum of weight * (feature - mean) / deviation."""

    means: Column
    deviations: Column
    weights: Column
    bias: float

    def add_up(self, features: Sequence[float]) -> float:
        """Return the log-odds of a text with these features."""
        rows = zip(self.weights, features, self.means, self.deviations, strict=True)
        return self.bias + sum(weight * (feature - mean) / deviation for weight, feature, mean, deviation in rows)


def read_columns(table: Mapping[str, object], names: Sequence[str]) -> tuple[Column, Column, Column]:
    """Return means, deviations and weights of the features in a scorer's table, in the order of `names`."""
    rows = table["features"]
    assert isinstance(rows, dict)
    columns = [[float(value) for value in rows[name]] for name in names]
    means, deviations, weights = (tuple(column) for column in zip(*columns, strict=True))
    return means, deviations, weights


def as_probability(odds: float) -> float:
    """Return log-odds between 0 and 1, where they can be added to scores of another kind."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))
