"""Arithmetic on stored vectors (float32 as bytes) without numpy, which the app's start must not import."""

import sys
from array import array
from collections.abc import Sequence
from math import sqrt
from operator import mul


def unpack_vector(data: bytes) -> "array[float]":
    """Return the numbers of a stored vector; raise `ValueError` if the length is not a multiple of four."""
    numbers = array("f")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Return the stored form of a vector."""
    packed = array("f", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def similarity(a: bytes, b: bytes) -> float:
    """Return the cosine of two stored vectors, -1..1; 0 if one is all zeros. Their lengths must agree."""
    left, right = unpack_vector(a), unpack_vector(b)
    if len(left) != len(right):
        raise ValueError(f"vectors of {len(left)} and {len(right)} numbers cannot be compared")
    size = sqrt(sum(map(mul, left, left)) * sum(map(mul, right, right)))
    return max(-1.0, min(1.0, sum(map(mul, left, right)) / size)) if size else 0.0


def centroid(vectors: Sequence[bytes]) -> bytes:
    """Return the mean direction of stored vectors, of length 1; raise `ValueError` if there are none."""
    if not vectors:
        raise ValueError("no vectors")
    sums = [sum(column) for column in zip(*map(unpack_vector, vectors), strict=True)]
    size = sqrt(sum(map(mul, sums, sums)))
    return pack_vector([value / size for value in sums] if size else sums)
