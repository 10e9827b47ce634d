"""Working Memory: every committed version whole, and the lines that wait for the next one.

A version is one compressed value: document, lines with their evidence, operations asked and applied,
decisions, parked list. Rows of older stores hold the same in columns of JSON.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.model import Decision, LineState, MemoryLine, Origin, ParkedLine, Section, SessionId, TurnId
from core.storage.database import Connection, Row

Lines = Mapping[Section, tuple[MemoryLine, ...]]
Parked = Mapping[Section, tuple[ParkedLine, ...]]

LEVEL = 3  # of compression: half the time of the default for a tenth more bytes
_COLUMNS = (
    "version, created_at, cause, archive, mode, packed, document, lines_json, asked_json, decisions_json, parked_json"
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


def add(c: Connection, session_id: SessionId, version: Version, *, asked: object, applied: object = None) -> None:
    """Store a version with the operations that were asked for and applied (any JSON values)."""
    packed = {
        "document": version.document,
        "lines": {section: [_pack(line) for line in lines] for section, lines in version.lines.items()},
        "asked": asked,
        "applied": applied,
        "notes": version.notes,
        "decisions": [_pack(decision) for decision in version.decisions],
        "parked": {section: [_pack(line) for line in lines] for section, lines in version.parked.items()},
    }
    text = json.dumps(packed, ensure_ascii=False, default=str)
    c.execute(
        "INSERT INTO memory_versions(session_id, version, created_at, cause, archive, mode, packed, document,"
        " lines_json, asked_json, decisions_json, parked_json) VALUES (?, ?, ?, ?, ?, ?, ?, '', '', '', '', '')",
        (
            session_id, version.number, version.created_at, version.cause, version.archive, version.mode,
            zlib.compress(text.encode(), LEVEL),
        ),
    )  # fmt: skip


def _pack(record: MemoryLine | ParkedLine | Decision) -> dict[str, object]:
    """Return a record's fields as they are: they hold plain values, which `asdict` would copy one by one."""
    return {name: getattr(record, name) for name in record.__slots__}


def get(c: Connection, session_id: SessionId, number: int | None = None) -> Version | None:
    """Return a version, the newest when no number is given."""
    row = c.execute(
        f"SELECT {_COLUMNS} FROM memory_versions WHERE session_id = ? AND (?2 IS NULL OR version = ?2)"
        " ORDER BY version DESC LIMIT 1",
        (session_id, number),
    ).fetchone()
    return None if row is None else _read_version(row)


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
    return None if row is None else _read_version(row)


def get_operations(c: Connection, session_id: SessionId, number: int) -> Operations | None:
    """Return what a version was asked for and what was applied; None if there is no such version."""
    row = c.execute(
        f"SELECT {_COLUMNS} FROM memory_versions WHERE session_id = ? AND version = ?", (session_id, number)
    ).fetchone()
    if row is None:
        return None
    packed = _unpack(row[5:])
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


@lru_cache(maxsize=32)  # a version never changes, and each turn asks for the newest
def _read_version(row: Row) -> Version:
    number, created_at, cause, archive, mode = row[:5]
    packed = _unpack(row[5:])
    return Version(
        number=number,
        created_at=created_at,
        cause=cause,
        archive=archive,
        document=packed["document"],
        lines={Section(name): tuple(map(_read_line, rows)) for name, rows in packed["lines"].items()},
        decisions=tuple(map(_read_decision, packed["decisions"])),
        parked={Section(name): tuple(map(_read_parked, rows)) for name, rows in packed["parked"].items()},
        mode=mode,
        notes=tuple(packed.get("notes", ())),
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


def _read_parked(row: dict[str, Any]) -> ParkedLine:
    return ParkedLine(
        text=row["text"],
        reason=row["reason"],
        turns=tuple(map(TurnId, row["turns"])),
        origin=Origin(row["origin"]) if row.get("origin") else None,
        at=row.get("at"),
    )
