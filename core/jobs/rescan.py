"""Scans again what was stored under older redaction rules: every row but the transcript, twins, archives, MEMORY.md.

Queued when the rules' version differs from the one that was noted when all was scanned last. Doing it twice changes
nothing, so a run that is killed begins again.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TypeVar

from core.changes import Changes
from core.jobs.memory_entries import MemoryKeeper
from core.jobs.runner import Finish
from core.memory_files.documents import Edit, Outcome
from core.memory_files.writer import FILES, Cause, MemoryFileWriter
from core.redaction import get_rules_version, redact, redact_json
from core.storage import queue, rescan
from core.storage.database import Connection, Database
from core.storage.queue import Job

T = TypeVar("T")
KIND = "rescan"
BATCH = 200  # rows
FOLDERS = ("sessions", "memory_tree")
DISPLACED = ".history"  # what a write of a memory file put aside
CAUSE = "A secret was taken out: Keepsake's rules for them changed."


class Rescanner:
    """Queues and does the scan."""

    def __init__(
        self,
        database: Database,
        *,
        workspace: Path,
        keeper: MemoryKeeper,
        pool: Executor,
        files: Executor,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._keeper = keeper
        self._pool = pool
        self._files = files
        self._publish = publish
        self._clock = clock

    async def look(self) -> bool:
        """Queue a scan if the rules changed since the last; whether it did."""
        version = await self._run(self._pool, get_rules_version)
        if await self._database.read(rescan.get_version) == version:
            return False
        return await self._database.write(partial(_queue, version=version, at=self._clock()))

    async def handle(self, job: Job) -> Finish:
        """Scan all there is; the version is noted when everything was."""
        version = await self._run(self._pool, get_rules_version)
        changed = 0
        for file in FILES:  # before the tables: what the user wrote there is recorded first
            await self._keeper.use(partial(_scan_memory_file, file=file, at=self._clock()))
        for sweep in await self._database.read(rescan.list_sweeps):
            changed += await self._scan_table(sweep)
        changed += await self._run(self._files, lambda: sum(map(scan_file, list_files(self._workspace))))
        if changed:
            self._publish(Changes(everything=True))
        return lambda c: rescan.set_version(c, version)

    async def _scan_table(self, sweep: rescan.Sweep) -> int:
        after, changed = -1, 0
        while rows := await self._database.read(partial(rescan.load_rows, sweep=sweep, after=after, limit=BATCH)):
            after = rows[-1].rowid
            fixes = await self._run(self._pool, partial(rescan.find_fixes, sweep, rows, redact, redact_json))
            if fixes:
                changed += await self._database.write(partial(rescan.write_fixes, sweep=sweep, fixes=fixes))
        return changed

    async def _run(self, executor: Executor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def _queue(c: Connection, *, version: str, at: float) -> bool:
    carrier = rescan.find_any_conversation(c)
    if carrier is None:
        rescan.set_version(c, version)
        return False
    queue.add_job(c, KIND, carrier, {"rules": version}, key=f"{KIND}:{version}", lane="slow", at=at)
    return True


def list_files(workspace: Path) -> Iterator[Path]:
    """Yield the files that are made from the store: twins, archives, the memory tree."""
    for folder in FOLDERS:
        for path in sorted((workspace / folder).rglob("*")):
            if path.suffix in (".md", ".json", ".jsonl") and path.is_file() and not path.is_symlink():
                yield path
    yield from (path for path in (workspace / DISPLACED).glob("*") if path.is_file() and not path.is_symlink())


def scan_file(path: Path) -> bool:
    """Redact a file in place, whole or not at all; whether it changed."""
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError):
        return False
    scanned = "".join(map(_scan_line, text.splitlines(keepends=True))) if path.suffix == ".jsonl" else ""
    scanned = scanned or (_scan_json(text) if path.suffix == ".json" else redact(text))
    if scanned == text:
        return False
    fresh = path.with_name(f".{path.name}.{os.getpid()}.rescan")
    try:
        with fresh.open("x", encoding="utf-8", newline="") as file:
            os.chmod(fresh, path.stat().st_mode & 0o777)
            file.write(scanned)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return True


def _scan_line(line: str) -> str:
    return _scan_json(line) if line.strip() else line


def _scan_json(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return redact(text)
    scanned = redact_json(value)
    end = "\n" if text.endswith("\n") else ""
    return text if scanned == value else json.dumps(scanned, ensure_ascii=False) + end


def _scan_memory_file(writer: MemoryFileWriter, *, file: str, at: float) -> None:
    if redact(text := writer.read(file)) == text:
        return

    def apply(current: str) -> Edit:
        scanned = redact(current)
        return Edit(text=scanned, outcome=Outcome.DUPLICATE if scanned == current else Outcome.WRITTEN)

    writer.change(file, apply, Cause(at=at, actor="Keepsake", cause=CAUSE))
