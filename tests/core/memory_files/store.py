"""A history in memory: the port the engine implements over its database."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from core.memory_files.history import KEPT_CHANGES, NewChange
from core.model import FileChange


class Memory:
    def __init__(self) -> None:
        self.all: list[FileChange] = []

    def last_change(self, file: str) -> FileChange | None:
        return next(iter(self.changes(file)), None)

    def changes(self, file: str, *, limit: int = KEPT_CHANGES) -> Sequence[FileChange]:
        return [change for change in reversed(self.all) if change.file == file][:limit]

    def find_change(self, change_id: int) -> FileChange | None:
        return next((change for change in self.all if change.id == change_id), None)

    def record(self, change: NewChange) -> FileChange:
        stored = FileChange(id=len(self.all) + 1, **asdict(change) | {"turns": change.turns})
        self.all = [replace(old, undone=True) if old.id == change.undoes else old for old in self.all]
        self.all.append(stored)
        return stored


class Durable(Memory):
    """The same in a file, shared by processes; each record is on disk when `record` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def all(self) -> list[FileChange]:
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        # A record cut off by a kill was never acknowledged.
        return [FileChange(**json.loads(line)) for line in lines if line.endswith("}")]

    @all.setter
    def all(self, changes: list[FileChange]) -> None:
        temporary = self._path.with_suffix(".new")
        temporary.write_text("".join(f"{json.dumps(asdict(c))}\n" for c in changes), encoding="utf-8")
        temporary.replace(self._path)

    def record(self, change: NewChange) -> FileChange:
        before = self.all
        stored = FileChange(id=len(before) + 1, **asdict(change) | {"turns": change.turns})
        self.all = [*before, stored]
        return stored
