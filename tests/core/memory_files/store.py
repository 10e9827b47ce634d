"""A history in memory: the port the engine implements over its database."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from core.memory_files.history import NewChange
from core.model import FileChange


class Memory:
    def __init__(self) -> None:
        self.all: list[FileChange] = []

    def last_change(self, file: str) -> FileChange | None:
        return next(iter(self.changes(file)), None)

    def changes(self, file: str) -> Sequence[FileChange]:
        return [change for change in reversed(self.all) if change.file == file]

    def find_change(self, change_id: int) -> FileChange | None:
        return next((change for change in self.all if change.id == change_id), None)

    def record(self, change: NewChange) -> FileChange:
        stored = FileChange(id=len(self.all) + 1, **asdict(change) | {"turns": change.turns})
        self.all = [replace(old, undone=True) if old.id == change.undoes else old for old in self.all]
        self.all.append(stored)
        return stored
