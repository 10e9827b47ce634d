"""Secrets go nowhere but into the transcript: every table and every file of a data folder is searched for them.

Replies of a model are scripted where one would write: what matters is what becomes of its text.
"""

import asyncio
import json
import logging
import sqlite3
import sys
import zlib
from contextlib import closing
from pathlib import Path

from core.engine import Engine
from core.model import SaidTurn, Section, SessionId, ToolCall
from core.paths import DataFolder
from core.safe_logs import SafeFormatter
from core.sessions.transcript import record_turn
from core.storage import conversations
from tests.core.jobs.talk import NO_VECTORS

CANARY = "Qz7vKx2mWp9"  # in each of the secrets
KEY = f"sk-{CANARY}4Tb8Rn3Lc6Yd1Hf"
PASSWORD = f"{CANARY}!tulip"
# the transcript, what is typed but not sent, and ids by which rows of a conversation are found
ALLOWED = {("messages", "text"), ("conversations", "draft")}
IDS = {"session_id"}


def find_in_tables(database: Path, canary: str) -> list[str]:
    """Return every table and column that holds the canary, packed values included."""
    found = []
    with closing(sqlite3.connect(database)) as c:
        tables = [name for (name,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table.startswith("episodic_words"):
                continue
            for row in (cursor := c.execute(f'SELECT * FROM "{table}"')):
                for column, value in zip((d[0] for d in cursor.description), row, strict=True):
                    if (table, column) not in ALLOWED and column not in IDS and canary in _as_text(value):
                        found.append(f"{table}.{column}: {_as_text(value)[:200]}")
    return found


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        try:
            value = zlib.decompress(value)
        except zlib.error:
            pass
        return value.decode("utf-8", "replace")
    return str(value)


def find_in_files(folder: Path, canary: str) -> list[str]:
    """Return every file that holds the canary, and every name, but for the store's own files."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if canary in path.name
        or (path.is_file() and not path.name.startswith("keepsake.db") and canary.encode() in path.read_bytes())
    ]


def say(text: str, n: int, reply: str = "Noted.", calls: tuple[ToolCall, ...] = ()) -> SaidTurn:
    at = 1_700_000_000.0 + n * 60
    return SaidTurn(source_key=f"k{n}", user_text=text, user_at=at, reply_text=reply, reply_at=at + 5, tool_calls=calls)


TALK = (
    say(f"My OpenAI key is {KEY}, please use it.", 0, reply=f"I will use {KEY}."),
    say(f"We decided to use the password: {PASSWORD} for the billing service.", 1),
    say(f"I prefer postgres://app:{PASSWORD}@db.example.org/shop over SQLite.", 2),
    say(f"Remember that the wifi password is {PASSWORD}", 3),
    say(
        "Please call the API.",
        4,
        calls=(
            ToolCall(name="fetch", success=False, output=f"401 for token={KEY}", arguments={"api_key": KEY, "n": 1}),
        ),
    ),
    say(f"The goal is to rotate {KEY} until Friday.", 5),
    say(f"The build fails with AuthError: Authorization: Bearer {KEY}", 6),
    say("By the way, which teas go with lemon cake?", 7, reply=f"Assam. Your password: {PASSWORD}"),
)


def write_transcript(path: Path) -> Path:
    """Write the talk as a transcript to import."""
    lines = []
    for said in TALK:
        calls = [
            {"name": c.name, "success": c.success, "output": c.output, "arguments": dict(c.arguments or {})}
            for c in said.tool_calls
        ]
        lines.append({"role": "user", "content": said.user_text, "timestamp": said.user_at})
        reply = {"role": "assistant", "content": said.reply_text, "timestamp": said.reply_at}
        lines.append(reply | ({"tool_calls": calls} if calls else {}))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


async def change_by_hand(engine: Engine, session_id: SessionId) -> None:
    """Put secrets into everything that a user may type besides messages, then let all work be done."""
    await engine.memory.add(session_id, Section.FACTS, f"The deploy password is {PASSWORD}")
    await engine.memory.change(session_id, Section.FACTS, "The deploy password is [REDACTED:password]", f"key {KEY}")
    await engine.memory.add(session_id, Section.ISSUES, f"rotate {KEY}")
    await engine.memory.remove(session_id, Section.ISSUES, "rotate [REDACTED:api_key]")
    segment = (await engine.segments.load(session_id))[0]
    await engine.segments.rename(segment.id, f"About {KEY}")
    await engine.rename_conversation(session_id, f"Key {KEY}")
    await engine.segments.close_open(within_s=60)
    await engine.memory.commit(session_id)
    await engine.wait_idle()
    other = await engine.create_conversation()
    await engine.send(other.id, f"What was the key {KEY} for?")
    await asyncio.sleep(0)
    await engine.wait_idle()


def check(folder: DataFolder) -> None:
    with closing(sqlite3.connect(folder.database)) as c:
        assert c.execute("SELECT count(*) FROM messages WHERE text LIKE ?", (f"%{CANARY}%",)).fetchone()[0] >= 8
        assert c.execute("SELECT count(*) FROM segments WHERE status <> 'open'").fetchone()[0] >= 1
        assert c.execute("SELECT count(*) FROM memory_versions").fetchone()[0] >= 3
    assert find_in_tables(folder.database, CANARY) == []
    assert find_in_files(folder.root, CANARY) == []


def use(folder: DataFolder, resources: Path, work) -> None:
    """Run some work on an open engine that has no model."""

    async def run():
        engine = Engine(folder, NO_VECTORS, resources=resources)
        await engine.open()
        try:
            await work(engine)
        finally:
            await engine.aclose()

    asyncio.run(run())


def test_no_secret_of_a_chat_leaves_the_transcript(tmp_path):
    folder = DataFolder(tmp_path / "data")

    async def talk(engine):
        def put(c):
            conversations.ensure(c, SessionId("chat"), at=0.0)
            for said in TALK:
                record_turn(c, SessionId("chat"), said)

        await engine._database.write(put)
        await engine.wait_idle()
        await change_by_hand(engine, SessionId("chat"))

    use(folder, tmp_path / "no model", talk)
    check(folder)


def test_no_secret_of_an_imported_transcript_leaves_it_not_even_one_in_its_name(tmp_path):
    folder = DataFolder(tmp_path / "data")
    file = write_transcript(tmp_path / f"{KEY}.jsonl")

    async def read(engine):
        await engine.replay(file, progress=lambda _: None, stop=asyncio.Event())
        await engine.wait_idle()
        (conversation,) = await engine.list_conversations()
        await change_by_hand(engine, conversation.id)

    use(folder, tmp_path / "no model", read)
    check(folder)


def test_the_search_would_find_a_leak(tmp_path):
    """The check itself: a canary in a packed value, a column and a file's name is found."""
    database = tmp_path / "keepsake.db"
    with closing(sqlite3.connect(database)) as c:
        c.execute("CREATE TABLE notes(text, packed)")
        c.execute("INSERT INTO notes VALUES (?, ?)", (CANARY, zlib.compress(CANARY.encode())))
        c.commit()
    (tmp_path / f"{CANARY}.txt").touch()
    assert len(find_in_tables(database, CANARY)) == 2
    assert find_in_files(tmp_path, CANARY) == [f"{CANARY}.txt"]


def test_an_error_s_text_is_logged_without_secrets():
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed: %s", (f"token={KEY}",), None)
    try:
        raise ValueError(f"bad line: password: {PASSWORD}")
    except ValueError:
        record.exc_info = sys.exc_info()
    told = SafeFormatter("%(message)s").format(record)
    assert CANARY not in told
    assert "ValueError" in told
