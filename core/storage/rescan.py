"""Walks every text of the store but the transcript, so that rows written under older redaction rules are scanned again.

Tables and columns are read from the store itself: one that is added later is walked too. Left out are the
transcript (`messages.text`), drafts, keys, and what full-text search keeps for itself.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.model import SessionId
from core.storage.database import Connection
from core.storage.episodic import pair_cjk

REDACTION = "redaction"
_TRANSCRIPT = {("messages", "text"), ("conversations", "draft"), ("episodic", "cjk")}
_PACKED = {("memory_versions", "packed"), ("memory_versions", "parked")}
_SHADOWS = ("episodic_fts", "episodic_words", "sqlite_")
_NO_TEXT = ("_id", "owner", "state", "status")
_JSON = "_json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A table and the columns of it that hold text."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """A row's texts, by column; packed ones as they are stored."""

    rowid: int
    values: tuple[str | bytes | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A value that is to be put in another's place."""

    rowid: int
    column: str
    before: str | bytes
    after: str | bytes


def get_version(c: Connection) -> str | None:
    """Return the rules' version that all rows were scanned by; None if that is not known."""
    row = c.execute("SELECT version FROM rule_versions WHERE name = ?", (REDACTION,)).fetchone()
    return None if row is None else str(row[0])


def set_version(c: Connection, version: str) -> None:
    """Note that all rows were scanned by a version of the rules."""
    c.execute(
        "INSERT INTO rule_versions(name, version) VALUES (?, ?)"
        " ON CONFLICT(name) DO UPDATE SET version = excluded.version",
        (REDACTION, version),
    )


def find_any_conversation(c: Connection) -> SessionId | None:
    """Return a conversation that the job can be queued under; None in an empty store."""
    row = c.execute("SELECT session_id FROM conversations ORDER BY created_at LIMIT 1").fetchone()
    return None if row is None else SessionId(row[0])


def list_sweeps(c: Connection) -> tuple[Sweep, ...]:
    """Return every table with texts in it."""
    tables = [
        name
        for _, name, kind, _, without_rowid, _ in c.execute("PRAGMA table_list")
        if kind == "table" and not without_rowid and not name.startswith(_SHADOWS)
    ]
    found = ((table, tuple(_list_columns(c, table))) for table in sorted(tables))
    return tuple(Sweep(table=table, columns=columns) for table, columns in found if columns)


def _list_columns(c: Connection, table: str) -> Iterator[str]:
    keys = {column for (column,) in c.execute('SELECT "from" FROM pragma_foreign_key_list(?)', (table,))}
    for (unique,) in c.execute('SELECT name FROM pragma_index_list(?) WHERE "unique"', (table,)).fetchall():
        keys |= {column for (column,) in c.execute("SELECT name FROM pragma_index_info(?)", (unique,))}
    for _, name, kind, _, _, primary in c.execute(f'PRAGMA table_info("{table}")'):
        packed = (table, name) in _PACKED
        key = primary or name in keys or name.endswith(_NO_TEXT)
        if (kind == "TEXT" or packed) and not key and (table, name) not in _TRANSCRIPT:
            yield name


def load_rows(c: Connection, sweep: Sweep, *, after: int, limit: int) -> tuple[StoredRow, ...]:
    """Return the next rows of a table."""
    columns = ", ".join(f'"{column}"' for column in sweep.columns)
    rows = c.execute(
        f'SELECT rowid, {columns} FROM "{sweep.table}" WHERE rowid > ? ORDER BY rowid LIMIT ?', (after, limit)
    )
    return tuple(StoredRow(rowid=rowid, values=tuple(values)) for rowid, *values in rows)


def find_fixes(
    sweep: Sweep, rows: tuple[StoredRow, ...], redact: Callable[[str], str], redact_json: Callable[[Any], Any]
) -> tuple[Fix, ...]:
    """Return what the rules change in some rows. Pure: for another thread."""
    scan = partial(_scan, redact=redact, redact_json=redact_json)
    return tuple(
        Fix(rowid=row.rowid, column=column, before=value, after=after)
        for row in rows
        for column, value in zip(sweep.columns, row.values, strict=True)
        if value and (after := scan(column, value)) != value
    )


def _scan(column: str, value: str | bytes, *, redact: Callable[[str], str], redact_json: Callable[[Any], Any]) -> Any:
    if isinstance(value, bytes):
        text = zlib.decompress(value).decode()
        scanned = _scan_json(text, redact, redact_json)
        return value if scanned == text else zlib.compress(scanned.encode())
    return _scan_json(value, redact, redact_json) if column.endswith(_JSON) else redact(value)


def _scan_json(text: str, redact: Callable[[str], str], redact_json: Callable[[Any], Any]) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return redact(text)
    scanned = redact_json(value)
    return text if scanned == value else json.dumps(scanned, ensure_ascii=False)


def write_fixes(c: Connection, sweep: Sweep, fixes: tuple[Fix, ...]) -> int:
    """Put values in the place of those that were read, unless they changed meanwhile; returns how many."""
    done = 0
    for fix in fixes:
        sql = f'UPDATE OR IGNORE "{sweep.table}" SET "{fix.column}" = ? WHERE rowid = ? AND "{fix.column}" = ?'
        done += len(list(c.execute(f"{sql} RETURNING 1", (fix.after, fix.rowid, fix.before))))
        if sweep.table == "episodic" and fix.column == "content" and isinstance(fix.after, str):
            c.execute("UPDATE episodic SET cjk = ? WHERE id = ?", (pair_cjk(fix.after), fix.rowid))
    return done
