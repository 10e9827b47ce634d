"""A real store and a way to talk into it, driven from the test's thread."""

import asyncio
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.model import SessionId
from core.retrieval.indexing import put_messages
from core.storage import conversations, episodic, turns
from core.storage.database import Database

MODEL = "two-d"


@pytest.fixture
def write(tmp_path: Path) -> Iterator[object]:
    store = Database(tmp_path / "keepsake.db")
    asyncio.run(store.open())
    yield store.write_from_thread
    asyncio.run(store.aclose())


@pytest.fixture
def say(write):
    """Say something in a conversation, made when it is new; returns the turn. `vector` is the user's message's."""

    def work(chat: str, user: str, reply: str = "", *, at: float = 1000.0, vector: bytes | None = None):
        def store(c):
            session_id = SessionId(chat)
            conversations.ensure(c, session_id, at=at, title=f"About {chat}")
            turn = turns.add_turn(c, session_id)
            rows = episodic.put_turn(c, session_id, turn, user=user, user_ts=at, reply=reply, reply_ts=at + 1)
            if vector is not None:
                put_messages(c, MODEL, 8, [(rows[0].id, vector)])
            return turn

        return write(store)

    return work


def pointing(place: int, share: float = 1.0) -> bytes:
    """A vector of length about 1 with 8 numbers that points mostly at one place."""
    numbers = [0.01] * 8
    numbers[place] = share
    numbers[(place + 1) % 8] = (1 - share * share) ** 0.5
    return array("f", numbers).tobytes()
