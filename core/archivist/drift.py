"""How near a message is to the segment it would join: cosines, centroids, thresholds.

Pure. Vectors are sequences of floats or float32 little-endian bytes as they are stored; a few
hundred dimensions take microseconds in plain Python, so nothing heavy is imported. How vectors
are compared belongs to a model's signature: `resources/rules/drift.toml` holds what was measured.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import mul, sub

from core.embedding.signatures import find_by_signature
from core.paths import find_resources

Vector = Sequence[float] | bytes

PERSONAL_SAMPLES = 200  # similarities of one user before their own percentile counts
PERSONAL_SHARE = 0.20  # of a user's similarities lie below their threshold
PERSONAL_RANGE = 0.15  # how far it may move from the table's
_ROUNDING = 1e-9  # a cosine that equals the threshold stays in the segment


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidUpdate:
    """A segment's mean vector and how many vectors it is made of."""

    centroid: tuple[float, ...] | None
    count: int
    changed: bool  # False: the new vector could not be folded in (the caller logs it)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How the vectors of one embedding model are compared."""

    threshold: float  # a cosine below it is another topic
    mean: tuple[float, ...] | None = None  # taken away from both vectors before they are compared


def read_vector(vector: Vector | None) -> tuple[float, ...] | None:
    """Return the vector as floats; None when it is missing, zero or not finite."""
    if vector is None:
        return None
    if isinstance(vector, bytes):
        if len(vector) % 4:
            return None
        stored = array("f")
        stored.frombytes(vector)
        if sys.byteorder == "big":
            stored.byteswap()
        vector = stored
    floats = tuple(float(value) for value in vector)
    return floats if any(floats) and all(map(math.isfinite, floats)) else None


def pack_vector(vector: Sequence[float]) -> bytes:
    """Return the vector as float32 little-endian bytes."""
    packed = array("f", vector)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def same_model(a: str | None, b: str | None) -> bool:
    """Whether two vectors may be compared; an unnamed model is taken to be the same."""
    return a is None or b is None or a == b


def cosine(a: Vector | None, b: Vector | None) -> float | None:
    """Return the cosine in [-1, 1]; None when the vectors cannot be compared."""
    left, right = read_vector(a), read_vector(b)
    if left is None or right is None or len(left) != len(right):
        return None
    value = sum(map(mul, left, right)) / (math.hypot(*left) * math.hypot(*right))
    return max(-1.0, min(1.0, value)) if math.isfinite(value) else None


def similarity(a: Vector | None, b: Vector | None, model: str | None) -> float | None:
    """Return the cosine of two vectors of one model around that model's mean; None when it cannot be told."""
    left, right = read_vector(a), read_vector(b)
    mean = calibration(model).mean
    if left is None or right is None or mean is None or not len(left) == len(right) == len(mean):
        return cosine(left, right)
    return cosine(_minus(left, mean), _minus(right, mean))


def has_drifted(similarity: float, threshold: float) -> bool:
    """Whether a cosine lies below the threshold; equal is not below."""
    return similarity < threshold - _ROUNDING


def update_centroid(
    centroid: Vector | None,
    new: Vector | None,
    count: int,
    *,
    model: str | None = None,
    new_model: str | None = None,
) -> CentroidUpdate:
    """Fold a user message's vector into the mean of the `count` before it: c + (n - c) / (count + 1)."""
    old, vector = read_vector(centroid), read_vector(new)
    if vector is None:
        return CentroidUpdate(centroid=old, count=count, changed=False)
    if old is None or count <= 0:
        return CentroidUpdate(centroid=vector, count=1, changed=True)
    if len(old) != len(vector) or not same_model(model, new_model):
        return CentroidUpdate(centroid=old, count=count, changed=False)
    share = 1 / (count + 1)
    mean = tuple(c + (n - c) * share for c, n in zip(old, vector, strict=True))
    return CentroidUpdate(centroid=mean, count=count + 1, changed=True)


def confirm_drift(
    held: Vector | None, following: Vector | None, centroid: Vector | None, model: str | None = None
) -> bool:
    """Whether a held-back drift boundary stands: the next message is nearer to the held one than to the old
    centroid. Where the next message has no vector the boundary stands, as at a flush."""
    to_held, to_old = similarity(following, held, model), similarity(following, centroid, model)
    return to_held is None or to_old is None or to_held > to_old


def calibration(model: str | None) -> Calibration:
    """Return how a model's vectors are compared, by its signature's beginning; threshold 0.40 for an unknown one."""
    return find_by_signature(_table(), model) or _table()[""]


def personal_threshold(similarities: Sequence[float], base: float) -> float:
    """Return one user's threshold: from 200 measured similarities on the 20th percentile, near the table's."""
    if len(similarities) < PERSONAL_SAMPLES:
        return base
    ordered = sorted(similarities)
    percentile = ordered[int(PERSONAL_SHARE * (len(ordered) - 1))]
    return min(base + PERSONAL_RANGE, max(base - PERSONAL_RANGE, percentile))


def _minus(vector: Sequence[float], mean: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(sub, vector, mean))


@cache
def _table() -> dict[str, Calibration]:
    import base64
    import tomllib

    text = (find_resources() / "rules" / "drift.toml").read_text(encoding="utf-8")
    rules = tomllib.loads(text)
    table = {"": Calibration(threshold=float(rules["unknown"]))}
    for entry in rules.get("model", []):
        mean = read_vector(base64.b64decode(entry["mean"])) if "mean" in entry else None
        table[str(entry["signature"])] = Calibration(threshold=float(entry["threshold"]), mean=mean)
    return table
