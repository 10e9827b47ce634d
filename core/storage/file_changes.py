"""The log of every write to MEMORY.md and its kin: who, when, why, before and after."""

import json
from collections.abc import Iterable
from typing import Protocol

from core.model import FileChange, Place, SessionId, TurnId
from core.storage.database import Connection, Row

_COLUMNS = """id, file, at, actor, cause, turns_json, before, after, undoes,
  EXISTS(SELECT 1 FROM file_changes u WHERE u.undoes = f.id)"""


class Write(Protocol):
    """A write that happened; the fields are those of `FileChange`."""

    @property
    def file(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def actor(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def turns(self) -> tuple[TurnId, ...]: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def undoes(self) -> int | None: ...


def add(c: Connection, workspace: str, write: Write) -> FileChange:
    """Record a write and return it with its id."""
    c.execute(
        "INSERT INTO file_changes(workspace, file, at, actor, cause, turns_json, before, after, undoes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            workspace, write.file, write.at, write.actor, write.cause, json.dumps(write.turns),
            write.before, write.after, write.undoes,
        ),
    )  # fmt: skip
    change = get(c, c.last_insert_rowid())
    assert change is not None  # inserted just now
    return change


def get(c: Connection, change_id: int) -> FileChange | None:
    rows = c.execute(f"SELECT {_COLUMNS} FROM file_changes f WHERE id = ?", (change_id,))
    return next((_read(row) for row in rows), None)


def load_newest(c: Connection, workspace: str, file: str, *, limit: int) -> tuple[FileChange, ...]:
    """Return the changes of a file, newest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM file_changes f WHERE workspace = ? AND file = ? ORDER BY id DESC LIMIT ?",
        (workspace, file, limit),
    )
    return tuple(_read(row) for row in rows)


def find_places(c: Connection, turns: Iterable[TurnId]) -> dict[TurnId, Place]:
    """Return the conversations that turns belong to; turns that are gone, or hidden with theirs, are left out."""
    rows = c.execute(
        "SELECT t.turn, t.session_id, v.title FROM turns t JOIN conversations v ON v.session_id = t.session_id"
        " WHERE v.deleted_at IS NULL AND t.turn IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(set(turns))),),
    )
    return {TurnId(turn): Place(session_id=SessionId(session_id), title=title) for turn, session_id, title in rows}


def _read(row: Row) -> FileChange:
    change_id, file, at, actor, cause, turns, before, after, undoes, undone = row
    return FileChange(
        id=change_id,
        file=file,
        at=at,
        actor=actor,
        cause=cause,
        turns=tuple(map(TurnId, json.loads(turns))),
        before=before,
        after=after,
        undoes=undoes,
        undone=bool(undone),
    )
