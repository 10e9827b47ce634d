"""How vectors of one model are compared: around the model's mean, coarsely by a bit a number, then exactly.

Pure but for the rule files. The vectors of an embedding model share a large part (two unrelated texts have a cosine
of 0.8 in E5 models); with the mean taken away unrelated texts lie near 0. Mean and limits belong to a signature:
the mean is that of `resources/rules/drift.toml`, the limits stand in `resources/rules/recall.toml`.
"""

import base64
import math
import sys
import tomllib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import mul, sub
from pathlib import Path

from core.embedding.signatures import find_by_signature
from core.paths import find_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """How one model's vectors are compared; cosines are around the mean."""

    mean: bytes  # float32 little endian
    gate: float  # a recap with a cosine below it is not recalled
    floor: float  # a message with a cosine below it is not found by meaning alone
    preference: float  # a situational preference with a cosine below it does not fit a message

    def centre(self, vector: bytes) -> bytes:
        """Return a vector around the mean."""
        return _pack(map(sub, _unpack(vector), _unpack(self.mean)))

    def compare(self, vector: bytes, others: Sequence[bytes]) -> tuple[float, ...]:
        """Return the cosines of a vector with others, all around the mean; 0 for one that says nothing."""
        own = _unpack(self.centre(vector))
        return tuple(_cosine(own, _unpack(self.centre(other))) for other in others)

    def encode(self, vector: bytes) -> bytes:
        """Return the signs of a vector around the mean, a bit a number, in the order sqlite-vec has them."""
        code = 0
        for place, (value, mean) in enumerate(zip(_unpack(vector), _unpack(self.mean), strict=True)):
            if value > mean:
                code |= 1 << place
        return code.to_bytes((len(vector) // 4 + 7) // 8, "little")


@cache
def load_space(signature: str, dimension: int) -> Space:
    """Return how the vectors of a model are compared; around zero for one that is not listed."""
    rules = find_resources() / "rules"
    means, limits = _read(rules / "drift.toml"), _read(rules / "recall.toml")
    mean = (find_by_signature(means, signature) or {}).get("mean")
    packed = base64.b64decode(str(mean)) if mean else bytes(4 * dimension)
    if len(packed) != 4 * dimension:
        packed = bytes(4 * dimension)
    chosen = find_by_signature(limits, signature) or {}
    return Space(
        mean=packed,
        gate=float(str(chosen["gate"])),
        floor=float(str(chosen["floor"])),
        preference=float(str(chosen["preference"])),
    )


def is_usable(vector: bytes, dimension: int) -> bool:
    """Whether a vector has the model's size and says anything."""
    return len(vector) == 4 * dimension and any(vector) and all(map(math.isfinite, _unpack(vector)))


def _read(path: Path) -> dict[str, dict[str, object]]:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    listed = content.get("model", [])
    table = {str(entry["signature"]): entry for entry in listed}
    unknown = content.get("unknown", {})
    table[""] = unknown if isinstance(unknown, dict) else {}
    return table


def _cosine(one: "array[float]", other: "array[float]") -> float:
    size = math.sqrt(_multiply(one, one) * _multiply(other, other))
    return _multiply(one, other) / size if size else 0.0


def _multiply(one: "array[float]", other: "array[float]") -> float:
    return float(sum(map(mul, one, other)))


def _unpack(vector: bytes) -> "array[float]":
    numbers = array("f")
    numbers.frombytes(vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _pack(numbers: Iterable[float]) -> bytes:
    packed = array("f", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
