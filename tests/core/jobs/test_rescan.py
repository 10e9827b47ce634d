"""What was stored under older redaction rules is scanned again: tables, packed versions, twins, archives, MEMORY.md."""

import asyncio
import sqlite3
import zlib
from contextlib import closing

import pytest

from core.engine import Engine
from core.jobs.rescan import scan_file
from core.model import SessionId
from core.paths import DataFolder
from core.redaction import get_rules_version
from tests.core.jobs.talk import NO_VECTORS, run_replay, write_transcript
from tests.core.test_canary import find_in_files, find_in_tables

CANARY = "Qz7vKx2mWp9"
SECRET = f"sk-{CANARY}4Tb8Rn3Lc6Yd1Hf"


@pytest.fixture
def folder(tmp_path):
    """A data folder whose memory holds a secret everywhere, as if older rules had not known it."""
    folder = DataFolder(tmp_path / "data")
    run_replay(folder.root, write_transcript(tmp_path / "talk.jsonl", turns=24))
    (folder.workspace() / "MEMORY.md").write_text("# Memory\n\n- the report is due on 2024-06-14\n", encoding="utf-8")

    async def open_once():  # what the user wrote is recorded
        engine = Engine(folder, NO_VECTORS, exclusive=False)
        await engine.open()
        await engine.files.load()
        await engine.aclose()

    asyncio.run(open_once())
    for path in folder.workspace().rglob("*"):
        if path.is_file() and path.suffix in (".md", ".json", ".jsonl") and ".history" not in path.parts:
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace("2024-06-14", SECRET), encoding="utf-8")
    with closing(sqlite3.connect(folder.database)) as c:
        plant(c)
        c.execute("DELETE FROM rule_versions")
        c.commit()
    return folder


def plant(c):
    for table, column in (("episodic", "content"), ("tree_chunks", "messages_json"), ("file_changes", "after")):
        c.execute(f"UPDATE {table} SET {column} = replace({column}, '2024-06-14', ?)", (SECRET,))
    c.execute("UPDATE episodic SET prev = replace(prev, '2024-06-14', ?)", (SECRET,))
    c.execute("UPDATE conversations SET preview = ?", (f"key {SECRET}",))
    for rowid, packed in c.execute("SELECT rowid, packed FROM memory_versions").fetchall():
        text = zlib.decompress(packed).decode().replace("2024-06-14", SECRET)
        c.execute("UPDATE memory_versions SET packed = ? WHERE rowid = ?", (zlib.compress(text.encode()), rowid))


def run_scan(folder):
    async def run():
        engine = Engine(folder, NO_VECTORS, exclusive=False)
        await engine.open()
        try:
            queued = await engine.backroom.rescanner.look()
            await engine.wait_idle()
            (conversation,) = await engine.list_conversations()
            return queued, await engine.memory.load(conversation.id)
        finally:
            await engine.aclose()

    return asyncio.run(run())


def test_old_rows_and_files_are_masked(folder):
    assert find_in_tables(folder.database, CANARY), "the test's own set-up"
    assert find_in_files(folder.root, CANARY), "the test's own set-up"
    queued, memory = run_scan(folder)
    assert queued
    assert find_in_tables(folder.database, CANARY) == []
    assert find_in_files(folder.root, CANARY) == []
    assert any("[REDACTED:api_key]" in line.text for part in memory.sections for line in part.lines), "still readable"
    with closing(sqlite3.connect(folder.database)) as c:
        assert c.execute("SELECT version FROM rule_versions").fetchone() == (get_rules_version(),)
        found = c.execute("SELECT count(*) FROM episodic_fts WHERE episodic_fts MATCH 'redacted'").fetchone()[0]
        assert found >= 1, "the index follows"


def test_a_store_that_was_scanned_is_left_in_peace(folder):
    run_scan(folder)
    assert run_scan(folder)[0] is False


def test_an_empty_store_needs_no_scan(tmp_path):
    async def run():
        engine = Engine(DataFolder(tmp_path), NO_VECTORS, exclusive=False)
        await engine.open()
        try:
            assert not await engine.backroom.rescanner.look()
            await engine.create_conversation()
            assert not await engine.backroom.rescanner.look()
        finally:
            await engine.aclose()

    asyncio.run(run())


def test_json_stays_json_and_a_clean_file_is_not_touched(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"note": "password: hunter2\\" or so", "id": "' + SessionId("a") + '"}\n', encoding="utf-8")
    assert scan_file(path)
    assert path.read_text() == '{"note": "password: [REDACTED:password]\\" or so", "id": "a"}\n'
    before = path.stat().st_mtime_ns
    assert not scan_file(path)
    assert path.stat().st_mtime_ns == before
    assert list(tmp_path.iterdir()) == [path]
