"""Working Memory: every committed version whole, and the lines that wait for the next one.

A version is one compressed value: document, lines with their evidence, operations asked and applied,
decisions. What waits beside it is another (`core.storage.parked_lists`). Rows of older stores hold the same
in columns of JSON.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.model import Decision, LineState, MemoryLine, Origin, Section, SessionId, TurnId
from core.storage import parked_lists
from core.storage.database import Connection, Row
from core.storage.parked_lists import LEVEL, Parked, pack

Lines = Mapping[Section, tuple[MemoryLine, ...]]

_COLUMNS = (
    "version, created_at, cause, archive, mode, parked_steps, parked, packed,"
    " document, lines_json, asked_json, decisions_json, parked_json"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A committed document; `lines` carry origin, evidence and how they stand against the one before."""

    number: int
    created_at: float  # s
    cause: str
    archive: int | None
    document: str
    lines: Lines
    decisions: tuple[Decision, ...]
    parked: Parked
    mode: str = "heuristics"  # who made the operations: write, select, heuristics, user
    notes: tuple[str, ...] = ()  # for the user: what the update could not do, one sentence each
    parked_steps: int | None = 0  # changes between its parked list and one that is stored whole; None: stored as of old


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What a version was asked for, and what of it was applied; any JSON values."""

    asked: object
    applied: object


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingLine:
    """A line that heuristics noticed since the last commit."""

    id: int
    turn: TurnId
    section: Section
    text: str
    replaces: str | None


def add(
    c: Connection,
    session_id: SessionId,
    version: Version,
    *,
    asked: object,
    applied: object = None,
    before: Version | None = None,
) -> None:
    """Store a version with the operations that were asked for and applied (any JSON values).

    `before` is the stored version that it was made of, if it was: its parked list need not be stored again.
    """
    if before is not None and before.number == version.number - 1:
        steps, parked = parked_lists.write(version.parked, before.parked, before.parked_steps)
    else:
        steps, parked = parked_lists.write(version.parked, None, None)
    packed = {
        "document": version.document,
        "lines": {section: [pack(line) for line in lines] for section, lines in version.lines.items()},
        "asked": asked,
        "applied": applied,
        "notes": version.notes,
        "decisions": [pack(decision) for decision in version.decisions],
    }
    text = json.dumps(packed, ensure_ascii=False, default=str)
    c.execute(
        "INSERT INTO memory_versions(session_id, version, created_at, cause, archive, mode, packed, parked_steps,"
        " parked, document, lines_json, asked_json, decisions_json, parked_json)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', '', '')",
        (
            session_id, version.number, version.created_at, version.cause, version.archive, version.mode,
            zlib.compress(text.encode(), LEVEL), steps, parked,
        ),
    )  # fmt: skip


def get(c: Connection, session_id: SessionId, number: int | None = None) -> Version | None:
    """Return a version, the newest when no number is given."""
    row = c.execute(
        f"SELECT {_COLUMNS} FROM memory_versions WHERE session_id = ? AND (?2 IS NULL OR version = ?2)"
        " ORDER BY version DESC LIMIT 1",
        (session_id, number),
    ).fetchone()
    return None if row is None else _load(c, session_id, row)


def get_newest(c: Connection, session_id: SessionId, held: Version | None) -> Version | None:
    """Return the newest version; it is not read again where `held` is that one, for a version never changes."""
    if held is not None:
        row = c.execute(
            "SELECT version, created_at FROM memory_versions WHERE session_id = ? ORDER BY version DESC LIMIT 1",
            (session_id,),
        ).fetchone()
        if row is None or row == (held.number, held.created_at):
            return held if row else None
    return get(c, session_id)


def get_of_archive(c: Connection, session_id: SessionId, archive: int) -> Version | None:
    """Return the version that was made with an archive."""
    row = c.execute(
        f"SELECT {_COLUMNS} FROM memory_versions WHERE session_id = ? AND archive = ? ORDER BY version DESC LIMIT 1",
        (session_id, archive),
    ).fetchone()
    return None if row is None else _load(c, session_id, row)


def get_operations(c: Connection, session_id: SessionId, number: int) -> Operations | None:
    """Return what a version was asked for and what was applied; None if there is no such version."""
    row = c.execute(
        f"SELECT {_COLUMNS} FROM memory_versions WHERE session_id = ? AND version = ?", (session_id, number)
    ).fetchone()
    if row is None:
        return None
    packed = _unpack(row[7:])
    return Operations(asked=packed["asked"], applied=packed.get("applied"))


def are_by_hand(c: Connection, session_id: SessionId, after: int) -> bool:
    """Whether all versions after one were made by the user's hand."""
    row = c.execute(
        "SELECT count(*) FROM memory_versions v WHERE session_id = ?1 AND version > ?2 AND NOT EXISTS"
        " (SELECT 1 FROM memory_edits e WHERE e.session_id = ?1 AND e.version = v.version)",
        (session_id, after),
    ).fetchone()
    return row is not None and row[0] == 0


def get_newest_number(c: Connection, session_id: SessionId) -> int:
    """Return the newest version's number, 0 where nothing was committed."""
    row = c.execute("SELECT max(version) FROM memory_versions WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0] or 0) if row else 0


def list_sessions(c: Connection) -> tuple[SessionId, ...]:
    """Return the conversations that have a memory, or lines that wait for one."""
    rows = c.execute("SELECT session_id FROM memory_versions UNION SELECT session_id FROM memory_pending")
    return tuple(SessionId(session_id) for (session_id,) in rows)


def add_pending(
    c: Connection, session_id: SessionId, turn: TurnId, lines: Sequence[tuple[Section, str, str | None]]
) -> None:
    """Store (section, text, replaces) lines of a turn."""
    c.executemany(
        "INSERT INTO memory_pending(session_id, turn, section, text, replaces) VALUES (?, ?, ?, ?, ?)",
        [(session_id, turn, section, text, replaces) for section, text, replaces in lines],
    )


def load_pending(c: Connection, session_id: SessionId) -> tuple[PendingLine, ...]:
    rows = c.execute(
        "SELECT id, turn, section, text, replaces FROM memory_pending WHERE session_id = ? ORDER BY id",
        (session_id,),
    )
    return tuple(
        PendingLine(id=i, turn=TurnId(turn), section=Section(section), text=text, replaces=replaces)
        for i, turn, section, text, replaces in rows
    )


def drop_pending(c: Connection, pending: Sequence[PendingLine]) -> None:
    c.executemany("DELETE FROM memory_pending WHERE id = ?", [(line.id,) for line in pending])


def _load(c: Connection, session_id: SessionId, row: Row) -> Version:
    """Return a row's version, with what waits beside it from the rows that say so."""
    number, steps, parked = row[0], row[5], row[6]
    if parked is None:
        return _read_version(row, ())
    chain: tuple[bytes, ...] = (parked,)
    if steps:
        rows = c.execute(
            "SELECT parked FROM memory_versions WHERE session_id = ? AND version BETWEEN ? AND ? ORDER BY version",
            (session_id, number - steps, number),
        )
        chain = tuple(found for (found,) in rows)
    return _read_version(row, chain)


@lru_cache(maxsize=2)  # a version never changes, and each turn asks for the newest
def _read_version(row: Row, chain: tuple[bytes, ...]) -> Version:
    number, created_at, cause, archive, mode, steps = row[:6]
    packed = _unpack(row[7:])
    return Version(
        number=number,
        created_at=created_at,
        cause=cause,
        archive=archive,
        document=packed["document"],
        lines={Section(name): tuple(map(_read_line, rows)) for name, rows in packed["lines"].items()},
        decisions=tuple(map(_read_decision, packed["decisions"])),
        parked=parked_lists.read(chain) if chain else parked_lists.parse(packed["parked"]),
        mode=mode,
        notes=tuple(packed.get("notes", ())),
        parked_steps=steps if chain else None,
    )


def _unpack(row: Row) -> dict[str, Any]:
    """Read the compressed value, or the columns of an older store."""
    packed, document, *texts = row
    if packed is not None:
        value: dict[str, Any] = json.loads(zlib.decompress(packed))
        return value
    names = ("lines", "asked", "decisions", "parked")
    return {"document": document, **{name: json.loads(text) for name, text in zip(names, texts, strict=True)}}


def _read_line(row: dict[str, Any]) -> MemoryLine:
    return MemoryLine(
        text=row["text"],
        origin=Origin(row["origin"]),
        state=LineState(row["state"]),
        turns=tuple(map(TurnId, row["turns"])),
        locked=row["locked"],
    )


def _read_decision(row: dict[str, Any]) -> Decision:
    texts = {name: tuple(row[name]) for name in ("restored", "carried", "parked", "skipped")}
    return Decision(
        section=Section(row["section"]),
        asked=row["asked"],
        applied=row["applied"],
        reason=row["reason"],
        **texts,
    )
