"""Changes of Working Memory by the user's hand, and the list of versions as one walks through it.

A change belongs to the version that it made. It holds the edits, those that take it back, and the pending
lines that it used up. Taking back is a change too: `undoes` names the one it took back.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.model import EditKind, MemoryEdit, Origin, Section, SessionId, TurnId
from core.storage.database import Connection, Row
from core.storage.memory_versions import PendingLine

_COLUMNS = "e.id, e.version, e.at, e.words, e.edits_json, e.inverse_json, e.pending_json, e.undoes"
# a change stands unless another took it back that stands itself; nothing takes back more than once
_STANDS = """NOT EXISTS (SELECT 1 FROM memory_edits u WHERE u.undoes = e.id
  AND NOT EXISTS (SELECT 1 FROM memory_edits r WHERE r.undoes = u.id))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change by the user; `id` is 0 until it is stored."""

    id: int = 0
    version: int  # the one it made
    at: float  # s
    words: str  # what was done, for the user: `you removed “…”`
    edits: tuple[MemoryEdit, ...]
    inverse: tuple[MemoryEdit, ...]
    pending: tuple[PendingLine, ...] = ()  # lines that waited and were taken or discarded by it
    undoes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A version on the way through the versions."""

    number: int
    created_at: float  # s
    cause: str


def add(c: Connection, session_id: SessionId, change: Change) -> None:
    """Store a change of a version that is stored in the same transaction."""
    c.execute(
        "INSERT INTO memory_edits(session_id, version, at, words, edits_json, inverse_json, pending_json, undoes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id, change.version, change.at, change.words, _dump(change.edits), _dump(change.inverse),
            json.dumps([asdict(line) for line in change.pending], ensure_ascii=False), change.undoes,
        ),
    )  # fmt: skip


def load_since(c: Connection, session_id: SessionId, version: int) -> tuple[MemoryEdit, ...]:
    """Return the edits that made the versions after `version`, oldest first, for `edits.reapply`."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM memory_edits e WHERE e.session_id = ? AND e.version > ? ORDER BY e.id",
        (session_id, version),
    )
    return tuple(edit for row in rows for edit in _read(row).edits)


def find_undoable(c: Connection, session_id: SessionId) -> Change | None:
    """Return the user's newest change that stands."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM memory_edits e WHERE e.session_id = ? AND e.undoes IS NULL AND {_STANDS}"
        " ORDER BY e.id DESC LIMIT 1",
        (session_id,),
    )
    return next(map(_read, rows), None)


def find_redoable(c: Connection, session_id: SessionId) -> Change | None:
    """Return the newest taking back, if no change of another kind came after it."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM memory_edits e JOIN memory_edits d ON d.id = e.undoes"
        f" WHERE e.session_id = ?1 AND d.undoes IS NULL AND {_STANDS} AND e.id >"
        " (SELECT max(n.id) FROM memory_edits n WHERE n.session_id = ?1 AND n.undoes IS NULL)"
        " ORDER BY e.id DESC LIMIT 1",
        (session_id,),
    )
    return next(map(_read, rows), None)


def is_standing(c: Connection, change_id: int) -> bool:
    """Whether a change is there and stands: nothing took it back, or that was taken back itself."""
    row = c.execute(f"SELECT 1 FROM memory_edits e WHERE e.id = ? AND {_STANDS}", (change_id,)).fetchone()
    return row is not None


def load_marks(c: Connection, session_id: SessionId) -> tuple[Mark, ...]:
    """Return all versions, oldest first."""
    rows = c.execute(
        "SELECT version, created_at, cause FROM memory_versions WHERE session_id = ? ORDER BY version", (session_id,)
    )
    return tuple(Mark(number=number, created_at=at, cause=cause) for number, at, cause in rows)


def load_turn_numbers(c: Connection, session_id: SessionId) -> dict[TurnId, int]:
    """Return the place of each turn in its conversation, from 1."""
    rows = c.execute("SELECT turn FROM turns WHERE session_id = ? ORDER BY turn", (session_id,))
    return {TurnId(turn): number for number, (turn,) in enumerate(rows, start=1)}


def _dump(edits: Sequence[MemoryEdit]) -> str:
    return json.dumps([asdict(edit) for edit in edits], ensure_ascii=False)


def _read(row: Row) -> Change:
    number, version, at, words, edits, inverse, pending, undoes = row
    return Change(
        id=number,
        version=version,
        at=at,
        words=words,
        edits=tuple(map(_read_edit, json.loads(edits))),
        inverse=tuple(map(_read_edit, json.loads(inverse))),
        pending=tuple(map(_read_pending, json.loads(pending))),
        undoes=undoes,
    )


def _read_edit(row: dict[str, Any]) -> MemoryEdit:
    return MemoryEdit(
        kind=EditKind(row["kind"]),
        section=Section(row["section"]),
        text=row["text"],
        new_text=row["new_text"],
        to=Section(row["to"]) if row["to"] else None,
        after=row["after"],
        origin=Origin(row["origin"]),
        turns=tuple(map(TurnId, row["turns"])),
        locked=row["locked"],
        reason=row["reason"],
        since=row.get("since"),
    )


def _read_pending(row: dict[str, Any]) -> PendingLine:
    return PendingLine(
        id=row["id"],
        turn=TurnId(row["turn"]),
        section=Section(row["section"]),
        text=row["text"],
        replaces=row["replaces"],
    )
