"""What must still be done for a turn: one row a step, leased by the process that does it.

Rows are written in the transaction that indexes the turn and deleted in the one that does the
step, so each step is done at least once, in turn order within a conversation, and its effect
exactly once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.model import SessionId, TurnId
from core.storage.database import Connection

LEASE_S = 60.0  # longer than a step may take; after that its owner is taken for dead
TWIN = "twin"  # publish the Markdown twins
REMEMBER = "remember"  # vectors, segment, pending memory lines
BACKOFF_S = (1.0, 10.0, 60.0, 600.0, 3600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A claimed step."""

    turn: TurnId
    step: str
    session_id: SessionId
    attempts: int


def add(c: Connection, session_id: SessionId, turn: TurnId) -> None:
    """Note both steps of a turn."""
    c.executemany(
        "INSERT INTO outbox(turn, step, session_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(turn, step, session_id) for step in (TWIN, REMEMBER)],
    )


def add_leased(c: Connection, session_id: SessionId, turn: TurnId, step: str, owner: str, *, now: float) -> None:
    """Note one step of a turn as its owner's, who does it next."""
    c.execute(
        "INSERT INTO outbox(turn, step, session_id, owner, lease_until) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (turn, step, session_id, owner, now + LEASE_S),
    )


def claim(c: Connection, owner: str, *, now: float) -> OutboxRow | None:
    """Lease the oldest step that is due and has no earlier one of its kind in its conversation."""
    rows = c.execute(
        "UPDATE outbox SET owner = ?, lease_until = ?, attempts = attempts + 1 WHERE rowid = ("
        "  SELECT rowid FROM outbox o WHERE next_try_at <= ? AND (lease_until <= ? OR owner = ?)"
        "  AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.session_id = o.session_id AND e.step = o.step"
        "                  AND e.turn < o.turn)"
        "  ORDER BY turn, step LIMIT 1)"
        " RETURNING turn, step, session_id, attempts",
        (owner, now + LEASE_S, now, now, owner),
    )
    return next(
        (
            OutboxRow(turn=TurnId(turn), step=step, session_id=SessionId(session_id), attempts=attempts)
            for turn, step, session_id, attempts in rows
        ),
        None,
    )


def is_remembering(c: Connection, session_id: SessionId, first: TurnId, last: TurnId) -> bool:
    """Whether vectors of some turns of a conversation are still to be written."""
    found = c.execute(
        "SELECT 1 FROM outbox WHERE turn BETWEEN ? AND ? AND step = ? AND session_id = ?",
        (first, last, REMEMBER, session_id),
    ).fetchone()
    return found is not None


def release_turns(c: Connection, turns: Sequence[TurnId], owner: str) -> None:
    """Give back the steps of some turns that an owner could not do."""
    c.executemany(
        "UPDATE outbox SET owner = NULL, lease_until = 0 WHERE turn = ? AND owner = ?",
        [(turn, owner) for turn in turns],
    )


def list_owners(c: Connection) -> tuple[str, ...]:
    """Return who leases steps."""
    return tuple(owner for (owner,) in c.execute("SELECT DISTINCT owner FROM outbox WHERE owner IS NOT NULL"))


def release(c: Connection, owner: str) -> None:
    """End the leases of an owner that is gone: what it left can go on at once."""
    c.execute("UPDATE outbox SET owner = NULL, lease_until = 0 WHERE owner = ?", (owner,))


def finish(c: Connection, turn: TurnId, step: str) -> bool:
    """Take a step off the list; False if it was done already."""
    return bool(list(c.execute("DELETE FROM outbox WHERE turn = ? AND step = ? RETURNING 1", (turn, step))))


def finish_all(c: Connection, turns: Iterable[TurnId], step: str) -> None:
    """Take a step of some turns off the list."""
    c.executemany("DELETE FROM outbox WHERE turn = ? AND step = ?", [(turn, step) for turn in turns])


def postpone(c: Connection, row: OutboxRow, *, error: str, now: float) -> None:
    """Give a failed step back with a back-off."""
    wait_s = BACKOFF_S[min(row.attempts, len(BACKOFF_S)) - 1]
    c.execute(
        "UPDATE outbox SET owner = NULL, lease_until = 0, next_try_at = ?, error = ? WHERE turn = ? AND step = ?",
        (now + wait_s, error, row.turn, row.step),
    )


def count_waiting(c: Connection, session_id: SessionId | None = None) -> int:
    sql = "SELECT count(*) FROM outbox"
    row = (
        c.execute(sql).fetchone()
        if session_id is None
        else c.execute(sql + " WHERE session_id = ?", (session_id,)).fetchone()
    )
    return int(row[0]) if row else 0


def load_errors(c: Connection) -> tuple[str, ...]:
    """Return what failed last for steps in back-off, once each."""
    rows = c.execute("SELECT DISTINCT error FROM outbox WHERE error IS NOT NULL ORDER BY error")
    return tuple(error for (error,) in rows)
