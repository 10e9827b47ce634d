"""The log of every write to MEMORY.md and its kin: who, when, why, before and after."""

import json

from core.model import FileChange, TurnId
from core.storage.database import Connection, Row

_COLUMNS = """id, file, at, actor, cause, turns_json, before, after, undoes,
  EXISTS(SELECT 1 FROM file_changes u WHERE u.undoes = f.id)"""


def add(c: Connection, workspace: str, change: FileChange, *, digest: str) -> int:
    """Record a write; `digest` is the hash of the file's bytes after it."""
    c.execute(
        "INSERT INTO file_changes(workspace, file, at, actor, cause, turns_json, before, after, hash, undoes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            workspace, change.file, change.at, change.actor, change.cause, json.dumps(change.turns),
            change.before, change.after, digest, change.undoes,
        ),
    )  # fmt: skip
    return c.last_insert_rowid()


def get(c: Connection, change_id: int) -> FileChange | None:
    rows = c.execute(f"SELECT {_COLUMNS} FROM file_changes f WHERE id = ?", (change_id,))
    return next((_read(row) for row in rows), None)


def get_newest_hash(c: Connection, workspace: str, file: str) -> str | None:
    """Return the hash that the file had after the last recorded change."""
    row = c.execute(
        "SELECT hash FROM file_changes WHERE workspace = ? AND file = ? ORDER BY id DESC LIMIT 1",
        (workspace, file),
    ).fetchone()
    return None if row is None else str(row[0])


def load_newest(c: Connection, workspace: str, file: str, *, limit: int) -> tuple[FileChange, ...]:
    """Return the changes of a file, newest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM file_changes f WHERE workspace = ? AND file = ? ORDER BY id DESC LIMIT ?",
        (workspace, file, limit),
    )
    return tuple(_read(row) for row in rows)


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
