"""The store as a whole: its schema, its transactions, several processes, damage, a full disk."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from core.errors import CoreError, NewerSchemaError, StorageError
from core.model import SessionId
from core.storage import conversations
from core.storage import database as database_module
from core.storage.database import Database, read_data_version
from core.storage.schema import STEPS


def use(path: Path, *works):
    """Open a store, run some writes one by one, close it; return the last outcome."""

    async def run():
        store = Database(path)
        await store.open()
        try:
            outcome = None
            for work in works:
                outcome = await store.write(work)
            return outcome
        finally:
            await store.aclose()

    return asyncio.run(run())


def add_conversation(name):
    return lambda c: conversations.add(c, SessionId(name), at=1.0)


def names(c):
    return sorted(row.id for row in conversations.load_all(c))


# -- schema ------------------------------------------------------------------------------------


def test_a_fresh_store_has_the_newest_schema(tmp_path):
    assert use(tmp_path / "new.db", lambda c: c.pragma("user_version")) == len(STEPS)


def test_opening_again_changes_nothing(tmp_path):
    path = tmp_path / "keepsake.db"
    schema = use(path, add_conversation("a"), lambda c: list(c.execute("SELECT sql FROM sqlite_schema")))
    assert use(path, lambda c: list(c.execute("SELECT sql FROM sqlite_schema"))) == schema
    assert use(path, names) == ["a"]


def test_a_newer_schema_is_refused_with_both_versions_and_left_alone(tmp_path):
    path = tmp_path / "keepsake.db"
    use(path, add_conversation("a"), lambda c: c.execute("PRAGMA user_version=907"))
    with pytest.raises(NewerSchemaError, match=rf"schema 907.*knows {len(STEPS)}.*Nothing was changed"):
        use(path)
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == 907
    assert list(connection.execute("SELECT session_id FROM conversations")) == [("a",)]
    connection.close()


def test_only_a_repeatable_write_does_not_wait_for_the_disk(tmp_path):
    async def run():
        store = Database(tmp_path / "a.db")
        await store.open()
        try:
            level = lambda c: c.pragma("synchronous")  # noqa: E731
            assert await store.write(level) == 2  # FULL
            assert await store.write(level, repeatable=True) == 1  # NORMAL
            with pytest.raises(ZeroDivisionError):
                await store.write(lambda c: 1 // 0, repeatable=True)
            assert await store.write(level) == 2
        finally:
            await store.aclose()

    asyncio.run(run())


def test_a_step_that_fails_leaves_the_store_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "keepsake.db"
    use(path, add_conversation("a"))
    broken = (*STEPS, ("broken", "CREATE TABLE extra(x); INSERT INTO nowhere VALUES (1);"))
    with monkeypatch.context() as patch:
        patch.setattr("core.storage.migrations.STEPS", broken)
        with pytest.raises(StorageError):
            use(path)
    tables = use(path, lambda c: [name for (name,) in c.execute("SELECT name FROM sqlite_schema")])
    assert "extra" not in tables
    assert use(path, lambda c: c.pragma("user_version")) == len(STEPS)


# -- transactions ------------------------------------------------------------------------------


def test_a_write_that_raises_leaves_no_trace_and_passes_its_error_on(database, write):
    def work(c):
        conversations.add(c, SessionId("half"), at=1.0)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        write(work)
    with pytest.raises(KeyError, match="mine"):
        asyncio.run(database.write(work))
    assert write(names) == []
    write(add_conversation("whole"))
    assert write(names) == ["whole"]


def test_nobody_sees_half_a_write(tmp_path, write):
    other = apsw.Connection(str(tmp_path / "keepsake.db"))

    def work(c):
        conversations.add(c, SessionId("a"), at=1.0)
        between = list(other.execute("SELECT session_id FROM conversations"))
        conversations.add(c, SessionId("b"), at=1.0)
        return between

    assert write(work) == []
    assert list(other.execute("SELECT count(*) FROM conversations")) == [(2,)]
    other.close()


def test_a_write_holds_the_store_from_its_first_statement(tmp_path, write):
    """Else a write that reads first may find the store taken when it comes to write, and fail."""
    other = apsw.Connection(str(tmp_path / "keepsake.db"))

    def work(c):
        names(c)
        with pytest.raises(apsw.BusyError):
            other.execute("BEGIN IMMEDIATE")

    write(work)
    other.close()


def test_every_commit_is_flushed_to_the_disk(write):
    assert write(lambda c: (c.pragma("journal_mode"), c.pragma("synchronous"))) == ("wal", 2)  # 2: FULL


def test_rows_of_a_conversation_that_is_not_there_are_refused(write):
    with pytest.raises(StorageError):
        write(lambda c: c.execute("INSERT INTO turns(session_id) VALUES ('nobody')"))


def test_a_process_killed_inside_a_write_leaves_what_was_committed(tmp_path, root):
    path = tmp_path / "keepsake.db"
    script = f"""
import asyncio, os
from core.model import SessionId
from core.storage import conversations
from core.storage.database import Database

def die(c):
    conversations.add(c, SessionId("half"), at=1.0)
    os.kill(os.getpid(), 9)

async def run():
    store = Database(__import__("pathlib").Path({str(path)!r}))
    await store.open()
    await store.write(lambda c: conversations.add(c, SessionId("whole"), at=1.0))
    await store.write(die)

asyncio.run(run())
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=root, timeout=60).returncode == -9
    assert use(path, names) == ["whole"]
    assert use(path, lambda c: list(c.execute("PRAGMA integrity_check"))) == [("ok",)]


# -- several processes on one file -------------------------------------------------------------


def test_two_stores_write_at_once_and_lose_nothing(tmp_path):
    path = tmp_path / "keepsake.db"
    use(path, add_conversation("shared"))

    async def count_up(store, times):
        for _ in range(times):
            await store.write(lambda c: conversations.touch(c, SessionId("shared"), at=2.0))

    async def run():
        one, two = Database(path), Database(path)
        await asyncio.gather(one.open(), two.open())
        await asyncio.gather(count_up(one, 60), count_up(two, 60))
        found = await one.read(lambda c: conversations.get(c, SessionId("shared")))
        await asyncio.gather(one.aclose(), two.aclose())
        return found.turn_count

    assert asyncio.run(run()) == 120


def test_stores_that_open_a_new_file_at_once_agree_on_the_schema(tmp_path):
    path = tmp_path / "keepsake.db"
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(lambda _: use(path, lambda c: c.pragma("user_version")), range(8)))
    assert versions == [len(STEPS)] * 8


def test_a_store_notices_what_another_one_commits(tmp_path, write):
    before = write(read_data_version)
    write(add_conversation("mine"))
    assert write(read_data_version) == before
    use(tmp_path / "keepsake.db", add_conversation("theirs"))
    assert write(read_data_version) != before


def test_a_store_locked_for_too_long_is_said_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 20)
    path = tmp_path / "keepsake.db"
    use(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"locked.*Nothing was changed"):
        use(path, add_conversation("a"))
    other.close()


def test_opening_a_store_does_not_load_numpy(tmp_path, root):
    """It takes as long as everything else before the first conversation is shown."""
    script = f"""
import asyncio, pathlib, sys
from core.storage.database import Database
store = Database(pathlib.Path({str(tmp_path / "keepsake.db")!r}))
asyncio.run(store.open())
asyncio.run(store.aclose())
sys.exit("numpy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=root, timeout=60).returncode == 0


# -- bad days ----------------------------------------------------------------------------------


def test_a_file_that_is_no_store_is_named_and_left_alone(tmp_path):
    path = tmp_path / "keepsake.db"
    path.write_bytes(b"Dear diary, this is a text file.\n" * 200)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"keepsake\.db is damaged or not a Keepsake store"):
        use(path)
    assert path.read_bytes() == before


def test_a_damaged_store_is_said_in_words(tmp_path):
    path = tmp_path / "keepsake.db"
    use(path, add_conversation("a"))
    data = path.read_bytes()
    path.write_bytes(data[:1024] + b"\xee" * (len(data) - 1024))  # the header stands, the pages do not
    with pytest.raises(StorageError, match="damaged or not a Keepsake store"):
        use(path, names)


def test_a_store_that_cannot_be_opened_names_its_folder(tmp_path):
    path = tmp_path / "keepsake.db"
    path.mkdir()
    with pytest.raises(StorageError, match="cannot be opened for writing") as caught:
        use(path)
    assert str(tmp_path) in str(caught.value)


def test_a_full_disk_is_said_in_words_and_keeps_what_was_saved(tmp_path):
    path = tmp_path / "keepsake.db"
    use(path, add_conversation("saved"))

    def fill(c):
        c.execute(f"PRAGMA max_page_count={c.pragma('page_count')}")
        conversations.add(c, SessionId("big"), at=1.0, title="x" * 200_000)

    with pytest.raises(StorageError, match=r"disk is full.*Everything saved before is intact"):
        use(path, fill)
    assert use(path, names) == ["saved"]


def test_a_store_that_was_never_opened_says_so(tmp_path):
    store = Database(tmp_path / "keepsake.db")
    with pytest.raises(CoreError, match="closed"):
        asyncio.run(store.read(names))
    asyncio.run(store.aclose())


def test_a_closed_store_says_so(tmp_path):
    async def run():
        store = Database(tmp_path / "store.db")
        await store.open()
        await store.aclose()
        await store.aclose()
        with pytest.raises(StorageError, match="closed"):
            await store.read(lambda c: None)

    asyncio.run(run())
