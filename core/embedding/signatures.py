"""What was measured of embedding models, found by the beginning of a model's signature. Pure."""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def find_by_signature(known: Mapping[str, T], signature: str | None) -> T | None:
    """Return the entry whose name is the longest beginning of a signature; one named "" fits any, None too."""
    names = [name for name in known if (signature or "").startswith(name)]
    return known[max(names, key=len)] if names else None
