"""The embedding model of a process: loaded when first needed, on a thread of its own.

One pass a turn: both texts of a turn are one batch. Where the model cannot be had, turns are
remembered without vectors and the reason is said, once, in the engine's status.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from core.embedding.port import Embedder
from core.errors import CoreError
from core.jobs.remembering import Vectors

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
        nothing: list[Vectors | None] = [None] * len(turn_texts)
        if self._load is None or self.problem:
            return nothing
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, turn_texts)
        except CoreError as error:
            self.problem = str(error)
            log.warning("embedding is off: %s", error)
            return nothing

    def _embed(self, turn_texts: Sequence[Sequence[str]]) -> list[Vectors | None]:
        if self._embedder is None:
            assert self._load is not None
            self._embedder = self._load()
        found: list[Vectors | None] = []
        for texts in turn_texts:
            self.passes += 1
            values = tuple(vector or b"" for vector in self._embedder.embed_passages(texts))
            signature, dimension = self._embedder.signature, self._embedder.dimension
            found.append(Vectors(signature=signature, dimension=dimension, values=values))
        return found

    def close(self) -> None:
        """End the thread after the pass that runs, if one does."""
        self._thread.shutdown(wait=False, cancel_futures=True)
