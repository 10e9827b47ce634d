"""A real store in the test's own folder, driven from the test's thread."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.model import SessionId
from core.storage import conversations
from core.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    store = Database(tmp_path / "keepsake.db")
    asyncio.run(store.open())
    yield store
    asyncio.run(store.aclose())


@pytest.fixture
def write(database: Database):
    """`Database.write` for a test that has no loop; reads go the same way."""
    return database.write_from_thread


@pytest.fixture
def chat(write) -> SessionId:
    """A conversation that is there."""
    return write(lambda c: conversations.add(c, SessionId("chat"), at=1000.0)).id
