"""A store with one conversation and all that commits it, with scripted stand-ins for model and extraction."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import ModelError
from core.jobs.archive_jobs import ArchiveJobs
from core.jobs.runner import JobRunner
from core.model import SaidTurn, Section, SessionId
from core.sessions.archive_recovery import Recovered, recover_archives
from core.sessions.commit import Committer, update_counters
from core.sessions.phase_two import PhaseTwo
from core.sessions.transcript import record_turn
from core.storage import archives, conversations, memory_versions, queue, turns
from core.storage.database import Connection, Database
from core.storage.queue import Job
from core.working_memory.material import Material, Update

CHAT = SessionId("chat")
FILES = {".meta.json", "messages.jsonl", ".overview.md", ".abstract.md", "memory_diff.json", ".done"}


@dataclass
class ScriptedUpdater:
    """Stands in for what asks a model: appends one fact an update, and does first what the test asks for."""

    before: Callable[[], Any] | None = None  # awaited before it answers
    failures: int = 0  # how many of the next calls find the model dead
    seen: list[Material] = field(default_factory=list)

    async def propose(self, material: Material) -> Update:
        self.seen.append(material)
        if self.failures:
            self.failures -= 1
            raise ModelError("The model host is gone.")
        if self.before is not None:
            await self.before()
        facts = {"op": "APPEND", "items": [p.text for p in material.proposals if p.section is Section.FACTS]}
        return Update(operations={Section.FACTS.value: facts}, mode="select", proposals=material.proposals)


@dataclass
class Desk:
    """What a test works with."""

    database: Database
    committer: Committer
    phase_two: PhaseTwo
    jobs: ArchiveJobs
    lanes: tuple[JobRunner, JobRunner]
    workspace: Path
    now: float = 5000.0

    async def read(self, work: Callable[[Connection], Any]) -> Any:
        return await self.database.read(work)

    async def write(self, work: Callable[[Connection], Any]) -> Any:
        return await self.database.write(work)

    async def say(self, count: int, *, first: int = 0) -> None:
        """Add finished turns, each with a fact that waits."""
        await self.write(lambda c: [say_turn(c, n) for n in range(first, first + count)])

    async def run_jobs(self, *, until: float | None = None) -> None:
        """Run what is due, and what comes due up to a time."""
        while True:
            ran = [await lane.run_one() for lane in self.lanes]
            if not any(ran):
                if until is None or self.now >= until:
                    return
                self.now += 1.0

    async def version(self, number: int | None = None) -> Any:
        return await self.read(lambda c: memory_versions.get(c, CHAT, number))

    async def archive(self, number: int) -> Any:
        return await self.read(lambda c: archives.get(c, CHAT, number))

    async def facts(self) -> list[str]:
        version = await self.version()
        return [line.text for line in version.lines[Section.FACTS] if line.state != "removed"] if version else []

    async def recover(self) -> Recovered:
        return await self.jobs.recover()

    def folder(self, number: int) -> Path:
        return self.workspace / "sessions" / CHAT / f"archive_{number:03}"

    def names(self, number: int) -> set[str]:
        folder = self.folder(number)
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    def meta(self, number: int) -> dict[str, Any]:
        return json.loads((self.folder(number) / ".meta.json").read_text())


def say_turn(c: Connection, number: int) -> None:
    said = SaidTurn(
        source_key=f"k{number}",
        user_text=f"Fact number {number} is that the harbour has {number + 100} berths.",
        user_at=float(number * 60),
        reply_text=f"Noted, {number}.",
        reply_at=float(number * 60 + 5),
    )
    turn = record_turn(c, CHAT, said)
    assert turn is not None
    memory_versions.add_pending(c, CHAT, turn, [(Section.FACTS, fact(number), None)])
    update_counters(c, CHAT)


def fact(number: int) -> str:
    """Return what a turn of `say` is remembered by."""
    return f"The harbour has {number + 100} berths."


@asynccontextmanager
async def open_desk(
    tmp_path: Path,
    turn_count: int = 0,
    *,
    updater: Any = None,
    extract: Any = None,
    on_step: Callable[[str], None] | None = None,
    tail_tokens: int = 10_000,
) -> AsyncIterator[Desk]:
    """Open (or open again) the store; a new one holds a conversation of some turns."""
    database = Database(tmp_path / "store.db")
    await database.open()
    pool = ThreadPoolExecutor(2)

    async def find_updater() -> Any:
        return updater

    async def asks_model() -> bool:
        return updater is not None

    shared: dict[str, Any] = {
        "workspace": tmp_path / "work",
        "clock": lambda: desk.now,
        "pool": pool,
        "files": pool,
        **({"on_step": on_step} if on_step else {}),
    }
    committer = Committer(database, tail_tokens=tail_tokens, asks_model=asks_model, **shared)
    extraction = {"extract": extract} if extract else {}
    phase_two = PhaseTwo(database, find_updater=find_updater, **extraction, **shared)

    async def write_entries(job: Job) -> None:
        """MEMORY.md is another room's."""

    recover = partial(recover_archives, database, workspace=tmp_path / "work", files=pool, clock=lambda: desk.now)
    jobs = ArchiveJobs(database, phase_two, recover=recover, publish=lambda _: None)
    handlers = {queue.MEMORY_UPDATE: jobs.finish, queue.MEMORY_FILES: write_entries}
    common: dict[str, Any] = {"report": lambda *_: None, "clock": lambda: desk.now, "owner": "app-1"}
    lanes = tuple(JobRunner(database, lane, handlers=handlers, **common) for lane in ("quick", "slow"))
    desk = Desk(database, committer, phase_two, jobs, lanes, tmp_path / "work")
    await database.write(lambda c: conversations.ensure(c, CHAT, at=0.0))
    await desk.say(turn_count)
    try:
        yield desk
    finally:
        await database.aclose()
        pool.shutdown()


def live_ids(c: Connection) -> list[int]:
    return [m.id for m in turns.load_live(c, CHAT)]


def archived_ids(c: Connection, number: int) -> list[int]:
    return [m.id for m in archives.load_messages(c, archives.get(c, CHAT, number))]


def run(work: Any) -> Any:
    """Run an async test."""
    return asyncio.run(work())


Extracted = Sequence[dict[str, object]]
