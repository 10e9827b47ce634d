"""A store for the benchmark of retrieval, filled by the program's own index."""

import asyncio
import random
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from benchmarks.common import say
from benchmarks.recall_sets import Said
from core.model import SessionId
from core.retrieval.indexing import add_sentence_items, put_items
from core.storage import conversations, episodic, turns, vectors
from core.storage.database import Connection, Database

T = TypeVar("T")

BATCH = 32
SAY_EVERY = 320


class Model(Protocol):
    """What is needed of an embedding model."""

    @property
    def signature(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str], /) -> list[bytes | None]: ...

    def embed_query(self, text: str, /) -> bytes | None: ...


def in_store(path: Path, work: Callable[[Connection], T]) -> T:
    """Run `work` in one transaction of a new store."""

    async def run() -> T:
        database = Database(path)
        await database.open()
        try:
            return await database.write(work)
        finally:
            await database.aclose()

    return asyncio.run(run())


def fill(c: Connection, said: Sequence[Said], *, a_turn: int = 2) -> dict[int, str]:
    """Put messages into the index, two or one a turn, a conversation a session; returns their keys by index row."""
    keys: dict[int, str] = {}
    known: set[str] = set()
    at, place = 0.0, 0
    while place < len(said):
        first = said[place]
        session = SessionId(first.session)
        if first.session not in known:
            conversations.add(c, session, at=at)
            known.add(first.session)
        is_pair = a_turn > 1 and place + 1 < len(said) and said[place + 1].session == first.session
        follower = said[place + 1] if is_pair else None
        turn = turns.add_turn(c, session)
        assert turn is not None
        rows = episodic.put_turn(
            c, session, turn, user=first.text, user_ts=at, reply=follower.text if follower else "", reply_ts=at + 1
        )
        keys.update({row.id: message.key for row, message in zip(rows, filter(None, (first, follower)), strict=False)})
        at, place = at + 10, place + len(rows)
    return keys


def fill_vectors(c: Connection, model: Model) -> None:
    """Give every message and sentence its vector, as the background does."""
    number = vectors.add_signature(c, model.signature, model.dimension)
    add_sentence_items(c, limit=1_000_000)
    total, done = vectors.count_missing(c, number), 0
    while missing := vectors.load_missing(c, number, limit=BATCH):
        found = model.embed_passages([item.text for item in missing])
        put_items(c, number, model.signature, [(m.item, v) for m, v in zip(missing, found, strict=True) if v])
        done += len(missing)
        if done % SAY_EVERY == 0:
            say(f"embedded {done} of {total}")


def load_vectors(c: Connection) -> dict[int, bytes]:
    """Return the messages' vectors by index row."""
    rows = c.execute(
        "SELECT CAST(i.ref AS INTEGER), v.vector FROM vectors v JOIN vector_items i ON i.id = v.item"
        " WHERE i.kind = 'message'"
    )
    return dict(rows)


def fill_spread(c: Connection, texts: Sequence[str], model: Model, *, turns: int) -> None:
    """Fill a store with turns made of known texts; the vectors are drawn at random, which is as slow to search."""
    chance = random.Random(7)
    said = [
        Said(key=str(n), session=str(n // 100), text=f"{chance.choice(texts)} {chance.choice(texts)[:60]}")
        for n in range(2 * turns)
    ]
    fill(c, said)
    add_sentence_items(c, limit=1_000_000)
    number = vectors.add_signature(c, model.signature, model.dimension)
    while missing := vectors.load_missing(c, number, limit=1_000):
        drawn = [
            (item.item, array("f", [chance.gauss(0, 1) for _ in range(model.dimension)]).tobytes()) for item in missing
        ]
        put_items(c, number, model.signature, drawn)
