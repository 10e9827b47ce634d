"""The embedding model of a process: loaded when first needed, on a thread of its own.

One pass a turn: both texts of a turn are one batch. Where the model cannot be had, turns are
remembered without vectors and the reason is said, once, in the engine's status.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from core.embedding.port import Embedder
from core.errors import CoreError
from core.jobs.remembering import Vectors

T = TypeVar("T")

log = logging.getLogger(__name__)


class EmbedderSlot:
    """Owns the embedder and its thread. `problem` is a sentence for the user, "" while all is well."""

    def __init__(self, load: Callable[[], Embedder] | None) -> None:
        self._load = load  # None: embeddings are switched off
        self._embedder: Embedder | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self.problem = ""
        self.passes = 0  # embedding calls so far; one a turn, never two

    async def embed(self, turn_texts: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """Return the vectors of each turn's texts (empty for a blank one), or None for each without a model."""
        found = await self._use(lambda embedder: self._embed(embedder, turn_texts))
        return found if found is not None else [None] * len(turn_texts)

    @property
    def is_available(self) -> bool:
        """Whether a model may be had: switched on, and not failed so far."""
        return self._load is not None and not self.problem

    def replace(self, embedder: Embedder) -> None:
        """Use another model from now on; the vectors of the one before stay until the new ones are complete."""
        self._load, self._embedder, self.problem = lambda: embedder, embedder, ""

    async def identify(self) -> tuple[str, int] | None:
        """Return (signature, dimension) of the model; None without one."""
        return await self._use(lambda embedder: (embedder.signature, embedder.dimension))

    async def embed_query(self, text: str) -> tuple[str, bytes] | None:
        """Return (signature, vector) of a text that searches; None without a model or for a blank text."""

        def work(embedder: Embedder) -> tuple[str, bytes] | None:
            vector = embedder.embed_query(text)
            return (embedder.signature, vector) if vector else None

        return await self._use(work)

    async def fill(self, texts: Sequence[str]) -> list[bytes | None] | None:
        """Return the vectors of texts that lack one, None for a blank one; None without a model."""
        return await self._use(lambda embedder: embedder.embed_passages(texts))

    async def _use(self, work: Callable[[Embedder], T]) -> T | None:
        """Run `work` on the model's thread; None where there is no model."""
        if self._load is None or self.problem:
            return None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._open()))
        except CoreError as error:
            self.problem = str(error)
            log.warning("embedding is off: %s", error)
            return None

    def _open(self) -> Embedder:
        if self._embedder is None:
            assert self._load is not None
            self._embedder = self._load()
        return self._embedder

    def _embed(self, embedder: Embedder, turn_texts: Sequence[Sequence[str]]) -> list[Vectors | None]:
        found: list[Vectors | None] = []
        for texts in turn_texts:
            self.passes += 1
            values = tuple(vector or b"" for vector in embedder.embed_passages(texts))
            signature, dimension = embedder.signature, embedder.dimension
            found.append(Vectors(signature=signature, dimension=dimension, values=values))
        return found

    def close(self) -> None:
        """End the thread after the pass that runs, if one does."""
        self._thread.shutdown(wait=False, cancel_futures=True)
