"""Archives: which messages left the window together, and how far their document, extraction and files are.

The store is the truth about an archive, its folder a twin. `version` is the version of Working Memory
that holds what the archive says; while there is none, its messages are shown raw. A stage that fails is
noted with its error; what is complete leaves no note.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.model import Message, MessageId, Role, SessionId, TurnId
from core.storage.database import Connection, Row
from core.storage.turns import LiveMessage, load_by_id

Change = Mapping[str, object]  # one entry of `memory_diff.json`

_COLUMNS = (
    "session_id, number, created_at, cause, keep, kept_json, copied_json, first_turn, last_turn, version,"
    " changes_json, state"
)
# in the words of the index of what is unfinished, which is small
_FAILED = "state IN ('pending', 'failed') AND state = 'failed'"


class Stage(StrEnum):
    """The parts of phase 2 that fail each for itself. The values are stored: never rename one."""

    MEMORY = "memory"  # the document
    EXTRACTION = "extraction"  # long-term memory
    FILES = "files"  # `.done`


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """One archive as the store knows it."""

    session_id: SessionId
    number: int
    created_at: float  # s
    cause: str
    keep: int  # messages that were to stay live
    kept: tuple[MessageId, ...]
    copied: tuple[MessageId, ...]  # questions that are in the archive and still live
    first_turn: TurnId
    last_turn: TurnId
    version: int | None = None
    changes: tuple[Change, ...] | None = None  # what the extraction did; None while it is not complete
    state: str = "pending"  # pending, done, failed, discarded


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The last failure of a stage."""

    stage: Stage
    attempts: int
    error: str
    at: float  # s


def add(c: Connection, archive: Archive) -> bool:
    """Insert an archive; False if its number is taken."""
    return bool(
        list(
            c.execute(
                "INSERT INTO archives(session_id, number, created_at, cause, keep, kept_json, copied_json, first_turn,"
                " last_turn, version, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')"
                " ON CONFLICT DO NOTHING RETURNING 1",
                (
                    archive.session_id, archive.number, archive.created_at, archive.cause, archive.keep,
                    json.dumps(archive.kept), json.dumps(archive.copied), archive.first_turn, archive.last_turn,
                    archive.version,
                ),
            )
        )
    )  # fmt: skip


def get(c: Connection, session_id: SessionId, number: int) -> Archive | None:
    """Return an archive that happened, or None."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM archives WHERE session_id = ? AND number = ? AND state <> 'discarded'",
        (session_id, number),
    )
    return next(map(_read, rows), None)


def get_newest_number(c: Connection, session_id: SessionId) -> int:
    """Return the largest number that was ever used in a conversation, 0 where none was."""
    row = c.execute("SELECT max(number) FROM archives WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0] or 0) if row else 0


def load_states(c: Connection) -> dict[tuple[SessionId, int], str]:
    """Return the state of every archive of the store, discarded ones included."""
    rows = c.execute("SELECT session_id, number, state FROM archives")
    return {(SessionId(session_id), number): state for session_id, number, state in rows}


def load_uncovered(c: Connection, session_id: SessionId, *, before: int | None = None) -> tuple[Archive, ...]:
    """Return archives that no version of Working Memory holds yet, oldest first; those before a number if given."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM archives INDEXED BY archives_uncovered WHERE session_id = ?1"
        " AND version IS NULL AND state IN ('pending', 'failed') AND (?2 IS NULL OR number < ?2) ORDER BY number",
        (session_id, before),
    )
    return tuple(map(_read, rows))


def load_covered(c: Connection, session_id: SessionId, version: int) -> tuple[int, ...]:
    """Return the numbers of the archives that came into Working Memory with a version."""
    rows = c.execute(
        "SELECT number FROM archives WHERE session_id = ? AND version = ? ORDER BY number", (session_id, version)
    )
    return tuple(number for (number,) in rows)


def get_keep(c: Connection, session_id: SessionId, default: int) -> int:
    """Return how many messages the newest commit was to keep."""
    row = c.execute(
        "SELECT keep FROM archives WHERE session_id = ? AND state <> 'discarded' ORDER BY number DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    return int(row[0]) if row else default


def are_live(c: Connection, message_ids: Sequence[MessageId]) -> bool:
    """Whether no archive holds any of some messages."""
    row = c.execute(
        "SELECT count(*) FROM messages WHERE archive IS NULL AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(message_ids),),
    ).fetchone()
    return row is not None and int(row[0]) == len(message_ids)


def find_running_turn(c: Connection, session_id: SessionId) -> TurnId | None:
    """Return the turn whose reply is being written, if there is one."""
    row = c.execute(
        "SELECT turn FROM messages WHERE status IN ('waiting', 'streaming') AND +session_id = ?", (session_id,)
    ).fetchone()
    return None if row is None else TurnId(row[0])


def discard(c: Connection, session_id: SessionId, number: int, *, at: float) -> bool:
    """Give up a number whose folder never came into the store; False if it is an archive after all."""
    c.execute(
        "INSERT INTO archives(session_id, number, created_at, cause, state) SELECT session_id, ?, ?, '', 'discarded'"
        " FROM conversations WHERE session_id = ? ON CONFLICT DO NOTHING",
        (number, at, session_id),
    )
    return get(c, session_id, number) is None


def set_version(c: Connection, session_id: SessionId, numbers: Sequence[int], version: int) -> None:
    """Record the version that holds some archives."""
    c.executemany(
        "UPDATE archives SET version = ? WHERE session_id = ? AND number = ?",
        [(version, session_id, number) for number in numbers],
    )
    c.executemany(
        "DELETE FROM archive_failures WHERE session_id = ? AND number = ? AND stage = ?",
        [(session_id, number, Stage.MEMORY) for number in numbers],
    )


def set_changes(c: Connection, session_id: SessionId, number: int, changes: Sequence[Change]) -> None:
    """Record that the extraction of an archive is complete, and what it changed."""
    text = json.dumps([dict(change) for change in changes], ensure_ascii=False)
    c.execute(
        "UPDATE archives SET changes_json = ? WHERE session_id = ? AND number = ?",
        (text, session_id, number),
    )
    clear_failures(c, session_id, number, Stage.EXTRACTION)


def set_state(c: Connection, session_id: SessionId, number: int, state: str) -> None:
    """Record how an archive stands: pending, done or failed."""
    c.execute("UPDATE archives SET state = ? WHERE session_id = ? AND number = ?", (state, session_id, number))


def note_failure(c: Connection, session_id: SessionId, number: int, failure: Failure) -> None:
    """Keep the last failure of a stage."""
    c.execute(
        "INSERT INTO archive_failures(session_id, number, stage, attempts, error, at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET attempts = excluded.attempts, error = excluded.error, at = excluded.at",
        (session_id, number, failure.stage, failure.attempts, failure.error, failure.at),
    )


def load_failures(c: Connection, session_id: SessionId, number: int) -> dict[Stage, Failure]:
    """Return the stages of an archive that failed and are not complete."""
    rows = c.execute(
        "SELECT stage, attempts, error, at FROM archive_failures WHERE session_id = ? AND number = ?",
        (session_id, number),
    )
    return {
        Stage(stage): Failure(stage=Stage(stage), attempts=attempts, error=error, at=at)
        for stage, attempts, error, at in rows
    }


def clear_failures(c: Connection, session_id: SessionId, number: int, stage: Stage | None = None) -> None:
    """Forget the failures of an archive, of one stage if given."""
    c.execute(
        "DELETE FROM archive_failures WHERE session_id = ?1 AND number = ?2 AND (?3 IS NULL OR stage = ?3)",
        (session_id, number, stage),
    )


def load_failed(c: Connection, session_id: SessionId | None = None) -> tuple[Archive, ...]:
    """Return the archives that wait for a retry, oldest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM archives WHERE {_FAILED} AND (?1 IS NULL OR session_id = ?1)"
        " ORDER BY created_at, session_id, number",
        (session_id,),
    )
    return tuple(map(_read, rows))


def count_failed(c: Connection) -> tuple[int, str]:
    """Return how many archives wait for a retry, and the newest error."""
    row = c.execute(f"SELECT count(*) FROM archives WHERE {_FAILED}").fetchone()
    if row is None or not row[0]:
        return 0, ""
    newest = c.execute("SELECT error FROM archive_failures ORDER BY at DESC LIMIT 1").fetchone()
    return int(row[0]), str(newest[0]) if newest else ""


def load_messages(c: Connection, archive: Archive) -> tuple[Message, ...]:
    """Return what an archive says, oldest first, its copied questions too."""
    rows = c.execute(
        "SELECT id FROM messages WHERE session_id = ?1 AND turn BETWEEN ?2 AND ?3 AND archive = ?4"
        " UNION SELECT value FROM json_each(?5)",
        (
            archive.session_id,
            archive.first_turn,
            archive.last_turn,
            archive.number,
            json.dumps(archive.copied),
        ),
    )
    return load_by_id(c, [MessageId(message_id) for (message_id,) in rows])


def count_messages(c: Connection, archive: Archive) -> int:
    """Return how many messages left the window with an archive; copied questions are still in it."""
    rows = c.execute(
        "SELECT count(*) FROM messages WHERE session_id = ? AND turn BETWEEN ? AND ? AND archive = ?",
        (archive.session_id, archive.first_turn, archive.last_turn, archive.number),
    )
    return next(int(number) for (number,) in rows)


def load_remembered(c: Connection, archive: Archive) -> frozenset[TurnId]:
    """Return the turns of an archive that memory may know: those of temporary chats and forgotten ones are not."""
    rows = c.execute(
        "SELECT t.turn FROM turns t JOIN conversations s ON s.session_id = t.session_id"
        " WHERE t.session_id = ? AND t.turn BETWEEN ? AND ?"
        " AND (EXISTS (SELECT 1 FROM episodic e WHERE e.turn = t.turn) OR (t.hook <> 'done' AND s.remember))",
        (archive.session_id, archive.first_turn, archive.last_turn),
    )
    return frozenset(TurnId(turn) for (turn,) in rows)


def load_unfinished_messages(c: Connection, session_id: SessionId) -> tuple[LiveMessage, ...]:
    """Return archived messages that no version of Working Memory holds yet, oldest first: they are shown raw."""
    rows = c.execute(
        "SELECT m.id, m.turn, m.role, m.text, m.tokens FROM archives a JOIN messages m ON m.session_id = a.session_id"
        " AND m.turn BETWEEN a.first_turn AND a.last_turn AND m.archive = a.number"
        " WHERE a.session_id = ? AND a.state IN ('pending', 'failed') AND a.version IS NULL"
        " ORDER BY m.turn, m.role DESC",
        (session_id,),
    )
    return tuple(
        LiveMessage(id=MessageId(i), turn=TurnId(turn), role=Role(role), text=text, tokens=tokens)
        for i, turn, role, text, tokens in rows
    )


def _read(row: Row) -> Archive:
    session_id, number, created_at, cause, keep, kept, copied, first, last, version, changes, state = row
    return Archive(
        session_id=SessionId(session_id),
        number=number,
        created_at=created_at,
        cause=cause,
        keep=keep,
        kept=tuple(map(MessageId, json.loads(kept))),
        copied=tuple(map(MessageId, json.loads(copied))),
        first_turn=TurnId(first),
        last_turn=TurnId(last),
        version=version,
        changes=None if changes is None else tuple(json.loads(changes)),
        state=state,
    )
