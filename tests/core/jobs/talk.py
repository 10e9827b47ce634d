"""Transcripts to replay, and what a store holds afterwards: shared by the tests of this folder."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from core.config import ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.model import ReplayProgress, ReplayStage
from core.storage import episodic, memory_versions, outbox, queue
from core.storage.database import Connection, Database

NO_VECTORS = Settings(models=ModelSettings(embedding_enabled=False))
SAID = (
    ("My name is Ada and I live in Turin.", "Nice to meet you, Ada."),
    ("We decided to use PostgreSQL 16 for the billing service.", "Noted: PostgreSQL 16."),
    ("The report is due on 2024-06-14.", "I will remember the date."),
    ("The build fails with ImportError in billing/db.py.", "Check the package name in billing/db.py."),
    ("By the way, which teas go with lemon cake?", "Assam, or a light Darjeeling."),
    ("我想下个月去京都看红叶。", "十一月中旬最好。"),
    ("我不吃花生，对花生过敏。", "好的，我记住了。"),
    ("Back to billing: the error is fixed now.", "Good to hear."),
)
GAP_S = 3600.0


def write_transcript(path: Path, *, turns: int = len(SAID), gap_before: int = 3) -> Path:
    """Write a transcript of some turns, a minute apart but for one long silence."""
    at, lines = 1_700_000_000.0, []
    for number in range(turns):
        user, reply = SAID[number % len(SAID)]
        at += GAP_S if number == gap_before else 60.0
        lines.append({"role": "user", "content": user, "timestamp": at})
        lines.append({"role": "assistant", "content": reply, "timestamp": at + 10})
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def run_replay(
    folder: Path, transcript: Path, *, stop_at: int | None = None, stop_in: ReplayStage | None = None
) -> ReplayProgress:
    """Replay as `keepsake-jobs` does, without vectors; stopped at a reading of the clock or in a stage."""

    async def run() -> ReplayProgress:
        stop = asyncio.Event()
        readings = count(1)

        def clock() -> float:
            if next(readings) == stop_at:
                stop.set()
            return time.time()

        engine = Engine(DataFolder(folder), NO_VECTORS, exclusive=False, clock=clock)
        await engine.open()
        try:
            done = await engine.replay(
                transcript, progress=lambda state: stop.set() if state.stage is stop_in else None, stop=stop
            )
            if not stop.is_set():
                await engine.wait_idle()  # what closed segments still need
            return done
        finally:
            await engine.aclose()

    return asyncio.run(run())


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a store holds, in a form that two runs can be compared by."""

    messages: list[tuple[str, str, float]]  # role, text, time
    segments: list[tuple[Any, ...]]
    memory: list[tuple[str, list[str]]]
    versions: int
    twins: list[str]  # texts, sorted
    indexed: list[tuple[str, str]]
    waiting: tuple[int, tuple[int, int]]  # outbox steps, jobs (waiting, failed)


def look(folder: Path) -> Held:
    """Read everything that a replay may have written for its one conversation."""

    async def run() -> Held:
        engine = Engine(DataFolder(folder), NO_VECTORS, exclusive=False)
        await engine.open()
        try:
            (conversation,) = await engine.list_conversations()
            messages = await engine.load_messages(conversation.id, limit_turns=10_000)
            parts = await engine.segments.load(conversation.id)
            memory = await engine.memory.load(conversation.id)
        finally:
            await engine.aclose()
        inside = await read(folder, lambda c: (_read_index(c), (outbox.count_waiting(c), queue.count_jobs(c))))
        numbers: dict[int, int] = {turn: i for i, turn in enumerate(sorted({message.turn for message in messages}))}
        return Held(
            messages=[(m.role, m.text, m.created_at) for m in messages],
            segments=[
                (numbers[s.first_turn], numbers[s.last_turn], s.turn_count, s.opened_by, s.title, s.summary, s.is_open)
                for s in parts
            ],
            memory=[(s.section, [line.text for line in s.lines]) for s in memory.sections],
            versions=memory.newest,
            twins=sorted(_number_twin(text, numbers) for text in read_twins(folder)),
            indexed=inside[0],
            waiting=inside[1],
        )

    return asyncio.run(run())


def _number_twin(text: str, numbers: dict[int, int]) -> str:
    """Put the turn's place in the conversation for its number, in which a second run may leave gaps."""
    return re.sub(r"^turn: (\d+)$", lambda match: f"turn: {numbers[int(match[1])]}", text, count=1, flags=re.MULTILINE)


def read_twins(folder: Path) -> list[str]:
    """Return the texts of all twins."""
    return [path.read_text(encoding="utf-8") for path in (folder / "workspaces").rglob("episodic/*/*.md")]


async def read(folder: Path, work: Callable[[Connection], Any]) -> Any:
    """Read from the store of a folder that nothing has open."""
    database = Database(DataFolder(folder).database)
    await database.open()
    try:
        return await database.read(work)
    finally:
        await database.aclose()


def _read_index(c: Connection) -> list[tuple[str, str]]:
    turns = [turn for (turn,) in c.execute("SELECT DISTINCT turn FROM episodic ORDER BY turn")]
    return [(row.role, row.content) for turn in turns for row in episodic.load_turn(c, turn)]


def count_remembered(c: Connection) -> dict[str, int]:
    """Count the rows of everything that is memory, vectors included."""
    tables = ["episodic", "episodic_fts", "segments", "memory_pending", "memory_versions", "outbox", "jobs"]
    tables += ["vector_items", "vector_codes", "vectors"]
    return {table: c.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def load_versions(c: Connection, session_id: str) -> list[str]:
    """Return the documents of all versions, oldest first."""
    newest = memory_versions.get_newest_number(c, session_id)
    found = [memory_versions.get(c, session_id, number) for number in range(1, newest + 1)]
    return [version.document for version in found if version is not None]
