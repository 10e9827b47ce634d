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

    async def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Return one vector a text (empty for blank text), or None without a model."""
        if self._load is None or self.problem:
            return None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, texts)
        except CoreError as error:
            self.problem = str(error)
            log.warning("embedding is off: %s", error)
            return None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if self._embedder is None:
            assert self._load is not None
            self._embedder = self._load()
        self.passes += 1
        return Vectors(
            signature=self._embedder.signature,
            dimension=self._embedder.dimension,
            values=tuple(vector or b"" for vector in self._embedder.embed_passages(texts)),
        )

    def close(self) -> None:
        """End the thread after the pass that runs, if one does."""
        self._thread.shutdown(wait=False, cancel_futures=True)
