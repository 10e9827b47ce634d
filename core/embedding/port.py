"""What the rest of the program may ask of an embedding model.

A vector is 384 little-endian float32 of length 1, as `bytes`: the form in which storage keeps it.
"""

from collections.abc import Sequence
from typing import Protocol

from core.errors import CoreError


class EmbeddingError(CoreError):
    """The embedding model cannot be used; search and segments go on by words alone."""


class Embedder(Protocol):
    """A model that turns text into vectors. Methods block: call them from a worker thread, several at once if need be.

    The first call loads the model. All raise `EmbeddingError` when it cannot be loaded.
    """

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def signature(self) -> str:
        """Name, weights, dimension and prefix scheme: vectors of different signatures cannot be compared."""
        ...

    def embed_passages(self, texts: Sequence[str], /) -> list[bytes | None]:
        """Return a vector for each text that is to be found, in one pass; None for a blank one."""
        ...

    def embed_query(self, text: str, /) -> bytes | None:
        """Return the vector of a text that searches; None for a blank one."""
        ...
