"""MEMORY.md and its kin: lasting statements in, the user's edits noticed, changes taken back.

Only what users said of themselves lasts beyond a conversation: what they ask to remember, their
preferences, and facts that stand on their own, each once. The writer keeps files whole and histories complete; this
module joins it to the store and to the files thread.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from core.archivist.entries import word_entry
from core.config import LearningSettings
from core.errors import CoreError, MemoryFileBusyError, MemoryFileError
from core.jobs.notebook import MEMORY_FILE, choose_heading
from core.memory_files.documents import Edit, Outcome
from core.memory_files.entries import drop_saying, find_saying, read_entries
from core.memory_files.history import KEPT_CHANGES, NewChange
from core.memory_files.wording import describe_links
from core.memory_files.writer import FILES, Cause, MemoryFileWriter, WriteResult
from core.model import FileChange, FileEntry, MemoryFile, Place, TurnId
from core.profile.forgetting import hide_forgotten
from core.redaction import redact
from core.redaction.spans import MARK_OPENING
from core.storage import file_changes, tombstones
from core.storage.database import Connection, Database
from core.text.statements import StatementKind
from core.working_memory.heuristic_lasting import find_lasting
from core.working_memory.heuristic_terms import is_repeat

T = TypeVar("T")

WORKSPACE = "default"
SHOWN_CHANGES = 50
MISTAKES = "Tools"  # the heading above tools that keep failing
CATEGORIES = {StatementKind.PREFERENCE: "preference", StatementKind.FACT: "fact"}
_BULLET = re.compile(r"^\s*[-*]\s+(?:\w+:\s+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A user's redacted text with its turn and time (s)."""

    turn: TurnId
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """The writer's `HistoryStore` over SQLite; called on the files thread."""

    database: Database

    def last_change(self, file: str) -> FileChange | None:
        changes = self._ask(lambda c: file_changes.load_newest(c, WORKSPACE, file, limit=1))
        return changes[0] if changes else None

    def changes(self, file: str, *, limit: int = KEPT_CHANGES) -> Sequence[FileChange]:
        return self._ask(lambda c: file_changes.load_newest(c, WORKSPACE, file, limit=limit))

    def find_change(self, change_id: int) -> FileChange | None:
        return self._ask(lambda c: file_changes.get(c, change_id))

    def record(self, change: NewChange) -> FileChange:
        return self._ask(lambda c: file_changes.add(c, WORKSPACE, change))

    def find_places(self, turns: Sequence[TurnId]) -> dict[TurnId, Place]:
        """Return the conversations that turns belong to."""
        return self._ask(lambda c: file_changes.find_places(c, turns))

    def load_tombstones(self) -> frozenset[str]:
        """Return what must not come back."""
        return self._ask(tombstones.load_all)

    def _ask(self, work: Callable[[Connection], T]) -> T:
        return self.database.write_from_thread(work)


class MemoryKeeper:
    """Reads and writes the memory files of one workspace."""

    def __init__(
        self, database: Database, *, workspace: Path, learning: LearningSettings, files: Executor, actor: str
    ) -> None:
        self._history = StoredHistory(database)
        self._files = files
        self._actor = actor
        self._workspace = workspace
        self._writer = MemoryFileWriter(
            workspace,
            self._history,
            redact=redact,
            budget=learning.memory_md_budget_chars,
            lock_wait_s=float(learning.lock_wait_seconds),
        )

    @property
    def actor(self) -> str:
        """Who this process's changes are put down to."""
        return self._actor

    async def use(self, work: Callable[[MemoryFileWriter], T]) -> T:
        """Do something with the writer on the files thread; raises as `work` does."""
        return await self._on_files(lambda: work(self._writer))

    async def add(self, said: Sequence[Said], *, at: float) -> bool:
        """Write what lasts of some turns into MEMORY.md; True if the file changed.

        Raises `MemoryFileBusyError` or `MemoryFileError`; nothing is lost, the job tries again.
        """
        return await self._on_files(lambda: self._add(said, at))

    async def add_mistakes(self, failures: Sequence[tuple[str, tuple[TurnId, ...]]], *, at: float) -> bool:
        """Write tools that keep failing into MEMORY.md, each once; True if the file changed.

        A failure is what failed and how, with a turn of each segment it failed in. Raises as `add` does.
        """
        return await self._on_files(lambda: self._add_mistakes(failures, at))

    async def load(self, *, at: float) -> tuple[MemoryFile, ...]:
        """Return the files with their changes; edits made with another program are recorded first."""
        return await self._on_files(lambda: tuple(self._load(file, at) for file in FILES))

    async def undo(self, change_id: int, *, at: float) -> str:
        """Take a change back, keeping later edits; returns a note for the user, "" when all is as asked."""
        result = await self._on_files(lambda: self._writer.undo(change_id, at))
        return result.note

    async def find_lines(self, says: Callable[[str], bool]) -> tuple[tuple[str, str], ...]:
        """Return (file, line) of the lines of which `says` is true; it gets their words without the bullet.

        A file that cannot be read has none.
        """
        return await self._on_files(lambda: self._find(says))

    async def drop_lines(self, says: Callable[[str], bool], *, at: float) -> tuple[int, ...]:
        """Take the lines out of the files of which `says` is true; returns the numbers of the changes.

        Raises `MemoryFileBusyError` or `MemoryFileError`.
        """
        return await self._on_files(lambda: self._drop(says, at))

    def _find(self, says: Callable[[str], bool]) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for file in FILES:
            try:
                text = self._writer.read(file)
            except MemoryFileError:
                continue  # the Files tab says what is wrong with it
            found += [(file, line.strip()) for line in find_saying(text, says)]
        return tuple(found)

    def _drop(self, says: Callable[[str], bool], at: float) -> tuple[int, ...]:
        changes: list[int] = []
        cause = Cause(at=at, actor=self._actor, cause="You asked to forget it.")

        def apply(current: str) -> Edit:
            return Edit(text=drop_saying(current, says), outcome=Outcome.WRITTEN)

        for file in dict.fromkeys(file for file, _ in self._find(says)):
            change = self._writer.change(file, apply, cause).change
            if change is not None:
                changes.append(change.id)
        return tuple(changes)

    def _add(self, said: Sequence[Said], at: float) -> bool:
        changed = False
        said = self._leave_out_forgotten(said)
        held = [_BULLET.sub("", line) for line in self._writer.read(MEMORY_FILE).splitlines()]
        for section, lines, turns in _group(said, held):
            cause = Cause(at=at, actor=self._actor, cause=_describe(len(lines)), turns=turns)
            result = self._writer.append(MEMORY_FILE, "\n".join(lines), cause, section=section)
            changed = changed or result.outcome is Outcome.WRITTEN
            _raise_if_refused(result)
        return changed

    def _add_mistakes(self, failures: Sequence[tuple[str, tuple[TurnId, ...]]], at: float) -> bool:
        changed = False
        held = self._history.changes(MEMORY_FILE)
        for what, turns in failures:
            line = f"- mistake: the tool {what} keeps failing"
            if any(line in change.after for change in held):
                continue  # it is there, or the user took it out
            cause = Cause(at=at, actor=self._actor, cause=f"A tool failed alike in {len(turns)} segments.", turns=turns)
            result = self._writer.append(MEMORY_FILE, line, cause, section=MISTAKES)
            changed = changed or result.outcome is Outcome.WRITTEN
            _raise_if_refused(result)
        return changed

    def _leave_out_forgotten(self, said: Sequence[Said]) -> Sequence[Said]:
        """What the user asked to forget is not written again from what they said before."""
        hashes = self._history.load_tombstones()
        return [replace(each, text=hide_forgotten(each.text, hashes)) for each in said] if hashes else said

    def _load(self, file: str, at: float) -> MemoryFile:
        problem = warning = ""
        entries: tuple[FileEntry, ...] = ()
        try:
            if (self._workspace / file).exists() or self._history.last_change(file) is not None:
                self._writer.notice_edits(file, at)
            text = self._writer.read(file)
            warning = describe_links(file) if self._writer.count_names(file) > 1 else ""
            entries = read_entries(text, self._writer.own_lines(file))
        except MemoryFileBusyError as error:
            text, warning = self._writer.read(file), str(error)
        except CoreError as error:
            text, problem = "", str(error)
        changes = tuple(self._history.changes(file)[:SHOWN_CHANGES])
        return MemoryFile(
            name=file,
            path=str(self._workspace / file),
            text=text,
            changes=changes,
            problem=problem,
            warning=warning,
            entries=entries,
            places=self._history.find_places([turn for change in changes for turn in change.turns]),
        )

    async def _on_files(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._files, job)


def _group(said: Sequence[Said], held: Sequence[str]) -> list[tuple[str, list[str], tuple[TurnId, ...]]]:
    """Return (section, bullets, turns) a language: entries stand under a heading in their own.

    `held` are the lines of the file: what one of them says already is not written again.
    """
    groups: dict[str, tuple[list[str], list[TurnId]]] = {}
    known = [line for line in held if line.strip()]
    for turn, entry in ((each.turn, entry) for each in said for entry in find_lasting(each.text)):
        if MARK_OPENING in entry.text or is_repeat(entry.text, known):
            continue
        known.append(entry.text)
        category = CATEGORIES[entry.kind]
        lines, turns = groups.setdefault(choose_heading(category, entry.text), ([], []))
        lines.append(word_entry(category, entry.text))
        turns.append(turn)
    return [(section, lines, tuple(dict.fromkeys(turns))) for section, (lines, turns) in groups.items()]


def _describe(count: int) -> str:
    return "You said something that lasts." if count == 1 else f"You said {count} things that last."


def _raise_if_refused(result: WriteResult) -> None:
    if result.outcome is Outcome.OVER_BUDGET:
        raise MemoryFileError(
            f"{result.file} has no room left within its size limit, and the rest of it is yours. "
            "The new entries wait in the conversation's memory; shorten the file to let them in."
        )
