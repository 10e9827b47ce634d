"""Vectors for what has none yet, oldest first: sentences, recaps, what was said while the model was away.

What is missing is a query, so nothing is lost when a run fails; the sweep asks again. A new model's vectors are
filled beside the old one's, which serves searches until the new set is complete.
"""

from collections.abc import Callable
from functools import partial

from core.jobs.embedder_slot import EmbedderSlot
from core.retrieval.indexing import add_sentence_items, put_items
from core.storage import queue, vectors
from core.storage.database import Connection, Database
from core.storage.queue import Job

KIND = "vectors"
BATCH = 8  # texts a pass: a turn that ends meanwhile waits for one pass at most
SPLIT = 50  # messages whose sentences are looked for at once
RUN_S = 20.0  # a run ends then, so that other slow work comes in between


class VectorFill:
    """Queues and does the filling."""

    def __init__(self, database: Database, embedder: EmbedderSlot, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._embedder = embedder
        self._clock = clock

    async def look(self) -> bool:
        """Queue a run if anything lacks a vector of the newest model; whether it did."""
        if not self._embedder.is_available:
            return False
        return await self._database.write(partial(_queue, now=self._clock()), repeatable=True)

    async def handle(self, _job: Job) -> None:
        """Fill until nothing is missing or the time is up; each batch is kept as it is done."""
        deadline, done = self._clock() + RUN_S, 0
        while self._clock() < deadline and (model := await self._embedder.identify()) is not None:
            missing = await self._database.write(
                partial(_load, name=model[0], dimension=model[1], after=done), repeatable=True
            )
            if not missing:
                await self._database.write(lambda c: vectors.drop_others(c, model[0]), repeatable=True)
                return
            done = missing[-1].item
            found = await self._embedder.fill([item.text for item in missing])
            if found is None:
                return
            pairs = [(item.item, value or b"") for item, value in zip(missing, found, strict=True)]
            await self._database.write(partial(_store, name=model[0], dimension=model[1], pairs=pairs), repeatable=True)


def _queue(c: Connection, *, now: float) -> bool:
    carrier = vectors.find_waiting_conversation(c)
    if carrier is not None:
        queue.add_job(c, KIND, carrier, {}, key=KIND, lane="slow", at=now)
    return carrier is not None


def _load(c: Connection, *, name: str, dimension: int, after: int) -> tuple[vectors.Missing, ...]:
    """The next items without a vector; one that could not be embedded is tried again by the next run."""
    number = vectors.add_signature(c, name, dimension)
    add_sentence_items(c, limit=SPLIT)
    vectors.complete_if_filled(c, number)
    return vectors.load_missing(c, number, after=after, limit=BATCH)


def _store(c: Connection, *, name: str, dimension: int, pairs: list[tuple[int, bytes]]) -> None:
    put_items(c, vectors.add_signature(c, name, dimension), name, pairs)
