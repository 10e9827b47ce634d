"""The one way a memory file is written: locked, whole or not at all, recorded, and never over an edit.

Order of a write: both locks → read → note the user's edits → new text beside the old one, synced →
a note of what is about to happen → the two names exchanged → look at what was replaced → record.
A crash anywhere leaves the old or the new text, whole; the note tells the next writer which.
Blocking: call it from a worker thread, never from the Qt thread.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import MemoryFileBusyError, MemoryFileError, NotFoundError
from core.memory_files import documents
from core.memory_files.documents import BUDGET_CHARACTERS, Edit, Outcome, Redact
from core.memory_files.folder import Folder
from core.memory_files.history import OUTSIDE_ACTOR, OUTSIDE_CAUSE, OWN_ACTOR, HistoryStore, NewChange, is_users
from core.memory_files.merge import merge
from core.memory_files.outside import put_back, take_late
from core.memory_files.publish import (
    HISTORY,
    Base,
    ChangedMeanwhile,
    OnStep,
    acknowledge_late,
    encode,
    find_late,
    keep_moved,
    publish,
    read_base,
    settle,
)
from core.memory_files.wording import describe_conflicts, describe_links, describe_moved, make_no_folder
from core.memory_files.workspace_lock import hold_workspace
from core.model import FileChange, TurnId

FILES = ("MEMORY.md", "SKILL.md", "MEMORY_GOALS.md")
LOCK_WAIT_S = 10.0
MERGED_CAUSE = "Your editor and Keepsake wrote at the same time; both are kept"
FEW_CHANGES = 20
EMPTY_LOOKS, EMPTY_LOOK_S = 10, 0.02
ATTEMPTS = 4  # the first and three more, when another program writes at the same moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a write happens: who, when (s since the epoch), in words, and the turns it rests on."""

    at: float
    actor: str
    cause: str
    turns: tuple[TurnId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What a write did. `outside` holds edits of the user that were found and recorded on the way."""

    file: str
    outcome: Outcome
    text: str  # the file's text now
    reason: str = ""  # a word for why it was refused
    change: FileChange | None = None
    outside: tuple[FileChange, ...] = ()
    bytes_written: int = 0
    lines: tuple[int, ...] = ()  # numbers, from 1, of the lines put in
    note: str = ""  # one sentence for the user, "" when there is nothing to say


class MemoryFileWriter:
    """Writes the memory files of one workspace. Thread-safe; several processes may have one each."""

    def __init__(
        self,
        workspace: Path,
        history: HistoryStore,
        *,
        redact: Redact = str,
        budget: int = BUDGET_CHARACTERS,
        lock_wait_s: float = LOCK_WAIT_S,
        on_step: OnStep = lambda step: None,
    ) -> None:
        self._workspace = workspace
        self._history = history
        self._redact = redact
        self._budget = budget
        self._lock_wait_s = lock_wait_s
        self._on_step = on_step  # told the name of each step before it is taken; for fault tests

    def append(self, file: str, content: str, cause: Cause, *, section: str | None = None) -> WriteResult:
        """Add entries; the oldest of our own entries make room when the file is over its budget."""
        reason = documents.guard(_as_tool_file(file), "append", content, section)
        return self._refused(file, reason) or self._write(
            file,
            cause,
            lambda text: self._with_room(
                file,
                text,
                lambda base: documents.append(base, content, section, self._budget, redact=self._redact),
            ),
        )

    def replace_section(self, file: str, section_title: str, content: str, cause: Cause) -> WriteResult:
        """Replace a section's body; lines the user wrote in it stay."""
        reason = documents.guard(_as_tool_file(file), "replace_section", content, section_title)
        return self._refused(file, reason) or self._write(
            file,
            cause,
            lambda text: documents.replace_section(
                text,
                section_title,
                content,
                self._users_lines(file, text),
                self._budget,
                redact=self._redact,
            ),
        )

    def save(self, file: str, text: str, base: str, at: float) -> WriteResult:
        """Save what the user typed in the app over `base`, the text they started from; later edits stay."""
        conflicts = 0

        def apply(current: str) -> Edit:
            nonlocal conflicts
            merged = merge(base, text, current) if current != base else None
            conflicts = merged.conflicts if merged else 0
            return _to_edit(current, merged.text if merged else text)

        cause = Cause(at=at, actor=OWN_ACTOR, cause="Edited in Keepsake")
        result = self._write(file, cause, apply)
        return replace(result, note=describe_conflicts(conflicts)) if conflicts else result

    def change(self, file: str, apply: Callable[[str], Edit], cause: Cause) -> WriteResult:
        """Write what `apply` makes of the file's text; it may be called again when the text changes."""
        return self._write(file, cause, apply)

    def undo(self, change_id: int, at: float) -> WriteResult:
        """Take one change back and keep what was written after it; raise `NotFoundError` if it is gone."""
        change = self._history.find_change(change_id)
        if change is None:
            raise NotFoundError("That change is no longer in the history, so it cannot be undone. Nothing was changed.")
        conflicts = 0

        def apply(current: str) -> Edit:
            nonlocal conflicts
            merged = merge(change.after, change.before, current) if current != change.after else None
            conflicts = merged.conflicts if merged else 0
            return _to_edit(current, merged.text if merged else change.before)

        cause = Cause(at=at, actor=OWN_ACTOR, cause=f"Undid: {change.cause}", turns=change.turns)
        result = self._write(change.file, cause, apply, undoes=change.id)
        return replace(result, note=describe_conflicts(conflicts)) if conflicts else result

    def read(self, file: str) -> str:
        """Return a file's text, "" if there is none. Takes no lock: a reader never sees half a write."""
        _need_allowed(file)
        with self._open() as folder:
            return read_base(folder, file).text

    def notice_edits(self, file: str, at: float) -> FileChange | None:
        """Record what the user changed with another program since our last write, if anything."""
        cause = Cause(at=at, actor=OUTSIDE_ACTOR, cause=OUTSIDE_CAUSE)
        result = self._write(file, cause, lambda text: Edit(text=text, outcome=Outcome.DUPLICATE))
        return result.outside[-1] if result.outside else None

    def count_names(self, file: str) -> int:
        """Return how many names (hard links) a file has, 0 if there is none."""
        _need_allowed(file)
        with self._open() as folder:
            base = read_base(folder, file)
        return base.links if base.snapshot is not None else 0

    def changes(self, file: str) -> Sequence[FileChange]:
        """Return the recorded changes of a file, newest first."""
        _need_allowed(file)
        return self._history.changes(file)

    def own_lines(self, file: str) -> frozenset[str]:
        """Return the lines that the program put into a file; all others are the user's."""
        changes = self._history.changes(file)
        return documents.machine_lines((c.before, c.after) for c in changes if not is_users(c.actor))

    def _write(
        self, file: str, cause: Cause, apply: Callable[[str], Edit], *, undoes: int | None = None
    ) -> WriteResult:
        _need_allowed(file)
        with (
            hold_workspace(self._workspace, self._lock_wait_s),
            self._open() as folder,
            folder.subfolder(HISTORY) as history,
        ):
            interrupted = settle(folder, history, file)
            if interrupted is not None:
                self._record_interrupted(interrupted)
            base = self._read_settled(folder, file)
            outside: list[FileChange] = []
            for _ in range(ATTEMPTS):
                try:
                    base = self._take_outside(folder, history, base, file, cause.at, outside)
                except ChangedMeanwhile as changed:
                    base = changed.base
                    continue
                edit = apply(base.text)
                if edit.outcome is not Outcome.WRITTEN:
                    return _unwritten(file, edit, outside)
                change = NewChange(
                    file=file,
                    at=cause.at,
                    actor=cause.actor,
                    cause=cause.cause,
                    turns=cause.turns,
                    before=base.text,
                    after=edit.text,
                    undoes=undoes,
                )
                try:
                    publish(folder, history, base, change, self._on_step)
                except ChangedMeanwhile as changed:
                    base = changed.base
                    continue
                return self._finish(folder, history, base, change, edit, outside)
        raise MemoryFileBusyError(
            f"{file} is being changed by another program again and again, so nothing was written; what is in the "
            "file is that program's. Close it there, or try again."
        )

    def _read_settled(self, folder: Folder, file: str) -> Base:
        """Read a file; one that has just been emptied is given the moment an editor needs to write it anew."""
        base = read_base(folder, file)
        last = self._history.last_change(file)
        for _ in range(EMPTY_LOOKS):
            if base.text or base.snapshot is None or last is None or not last.after:
                break
            time.sleep(EMPTY_LOOK_S)
            base = read_base(folder, file)
        return base

    def _take_outside(
        self, folder: Folder, history: Folder, base: Base, file: str, at: float, outside: list[FileChange]
    ) -> Base:
        """Record what editors did, and let nothing be lost between their saves and our writes; raises as `publish`."""
        noted = self._note_outside(file, base.text, at)
        outside += noted
        text, late = base.text, list(find_late(history, file))
        if noted or late:
            if noted:
                text = put_back(text, self._newest_changes(file, skip=len(noted)), noted[0].before, at)
            for _, mark, theirs in late:
                text = take_late(theirs, mark, self._newest_changes(file), text)
        if text != base.text:
            change = NewChange(
                file=file, at=at, actor=OUTSIDE_ACTOR, cause=MERGED_CAUSE, turns=(), before=base.text, after=text
            )
            publish(folder, history, base, change, self._on_step)
            outside.append(self._history.record(change))
            settle(folder, history, file)
            base = read_base(folder, file)
        for name, _, theirs in late:
            acknowledge_late(history, name, theirs, file)
        return base

    def _newest_changes(self, file: str, *, skip: int = 0) -> Iterator[FileChange]:
        """Yield the changes, newest first; the first few are mostly all that is looked at."""
        few = self._history.changes(file, limit=FEW_CHANGES)
        yield from few[skip:]
        if len(few) == FEW_CHANGES:
            yield from self._history.changes(file)[max(skip, FEW_CHANGES) :]

    def _finish(
        self,
        folder: Folder,
        history: Folder,
        base: Base,
        change: NewChange,
        edit: Edit,
        outside: list[FileChange],
    ) -> WriteResult:
        self._on_step("record")
        recorded = self._history.record(change)
        self._on_step("settle")
        settle(folder, history, change.file)
        notes = [describe_links(change.file)] if base.links > 1 else []
        if edit.moved:
            notes.append(describe_moved(len(edit.moved), f"{HISTORY}/{keep_moved(history, change.file, edit.moved)}"))
        return WriteResult(
            file=change.file,
            outcome=Outcome.WRITTEN,
            text=edit.text,
            change=recorded,
            outside=tuple(outside),
            bytes_written=len(encode(change.file, edit.text)),
            lines=edit.lines,
            note=" ".join(notes),
        )

    def _note_outside(self, file: str, text: str, at: float) -> list[FileChange]:
        """Record an edit made by another program: the file differs from our last record of it."""
        last = self._history.last_change(file)
        known = last.after if last is not None else ""
        if text == known:
            return []
        return [
            self._history.record(
                NewChange(
                    file=file, at=at, actor=OUTSIDE_ACTOR, cause=OUTSIDE_CAUSE, turns=(), before=known, after=text
                )
            )
        ]

    def _record_interrupted(self, change: NewChange) -> None:
        """Record a write that reached the disk but not the history, because the program ended there."""
        last = self._history.last_change(change.file)
        if last is None or (last.at, last.actor, last.after) != (change.at, change.actor, change.after):
            self._history.record(change)

    def _users_lines(self, file: str, text: str) -> list[str]:
        own = self.own_lines(file)
        return [bare for line in text.split("\n") if (bare := line.rstrip()) and bare not in own]

    def _with_room(self, file: str, text: str, apply: Callable[[str], Edit]) -> Edit:
        edit = apply(text)
        if edit.outcome is not Outcome.OVER_BUDGET:
            return edit
        own, confirmed = self.own_lines(file), self._confirmed_lines(file)
        lighter, removed = documents.make_room(text, own, int(edit.reason), confirmed)
        again = apply(lighter) if removed else edit
        return replace(again, moved=removed) if again.outcome is Outcome.WRITTEN else replace(edit, text=text)

    def _confirmed_lines(self, file: str) -> frozenset[str]:
        """Return entries that came in alone and rest on more than one turn."""
        found: set[str] = set()
        for change in self._history.changes(file):
            if len(change.turns) > 1 and not is_users(change.actor):
                added = documents.machine_lines([(change.before, change.after)])
                found |= added if len(added) == 1 else frozenset()
        return frozenset(found)

    def _refused(self, file: str, reason: str | None) -> WriteResult | None:
        if reason is None:
            return None
        return WriteResult(file=file, outcome=Outcome.REFUSED, text="", reason=reason)

    def _open(self) -> Folder:
        try:
            return Folder.open(self._workspace.resolve())
        except OSError as error:
            raise make_no_folder(self._workspace, error.strerror or str(error)) from error


def _need_allowed(file: str) -> None:
    if file not in FILES:
        raise MemoryFileError(f"{file!r} is not a memory file; only {', '.join(FILES)} are. Nothing was written.")


def _as_tool_file(file: str) -> str:
    # The goals file has rules of its own for the tool's two actions: none.
    return file if file in documents.TOOL_FILES else ""


def _to_edit(current: str, text: str) -> Edit:
    return Edit(text=text, outcome=Outcome.DUPLICATE if text == current else Outcome.WRITTEN)


def _unwritten(file: str, edit: Edit, outside: list[FileChange]) -> WriteResult:
    return WriteResult(file=file, outcome=edit.outcome, text=edit.text, reason=edit.reason, outside=tuple(outside))
