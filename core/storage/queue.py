"""The durable job queue: rows with a lease, so that app and jobs share the work."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from core.model import SessionId, TurnId
from core.storage.database import Connection, Row
from core.storage.outbox import BACKOFF_S

Lane = Literal["quick", "slow"]  # slow: a model may be asked, or much is read

LEASE_S = 120.0
MAX_ATTEMPTS = 3  # working-memory.md section 1, phase 2
COMMIT = "commit"  # asked for with the turn that made it due, gone with the commit itself
MEMORY_UPDATE = "memory_update"  # phase 2 of a commit
MEMORY_FILES = "memory_files"  # lasting statements of a commit's turns to MEMORY.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed job."""

    id: int
    key: str
    kind: str
    session_id: SessionId
    payload: dict[str, Any]
    attempts: int
    created_at: float = 0.0  # s
    waits: int = 0  # how often it was put off because its time had not come
    lane: Lane = "quick"
    owner: str = ""  # who leases it


def add_job(
    c: Connection,
    kind: str,
    session_id: SessionId,
    payload: dict[str, Any],
    *,
    key: str,
    lane: Lane = "quick",
    at: float = 0.0,
    not_before: float = 0.0,
) -> None:
    """Queue a job once per `key`.

    Quick jobs of a conversation run in the order they were queued in; slow ones when they are due, so that
    one that waits for its next try holds up nothing.
    """
    c.execute(
        "INSERT INTO jobs(kind, key, session_id, payload_json, lane, created_at, next_try_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(key) DO NOTHING",
        (kind, key, session_id, json.dumps(payload), lane, at, not_before),
    )


def ask_for_commit(c: Connection, session_id: SessionId, turn: TurnId, *, cause: str) -> None:
    """Queue the commit that a turn makes due."""
    add_job(c, COMMIT, session_id, {"cause": cause}, key=f"{COMMIT}:{session_id}:{turn}")


def is_commit_asked(c: Connection, session_id: SessionId) -> bool:
    """Whether a commit of a conversation waits."""
    found = c.execute("SELECT 1 FROM jobs WHERE session_id = ? AND kind = ?", (session_id, COMMIT)).fetchone()
    return found is not None


def drop_commit(c: Connection, session_id: SessionId) -> None:
    """Take what asks for a commit off the queue: it happens in this transaction."""
    c.execute("DELETE FROM jobs WHERE session_id = ? AND kind = ?", (session_id, COMMIT))


def claim_job(
    c: Connection,
    owner: str,
    *,
    now: float,
    lane: Lane = "quick",
    kinds: Sequence[str] | None = None,
) -> Job | None:
    """Lease the oldest job of a lane that is due, of `kinds` if given."""
    wanted = json.dumps(kinds) if kinds is not None else None
    rows = c.execute(
        "UPDATE jobs SET owner = ?, lease_until = ?, started_at = ?, attempts = attempts + 1 WHERE id = ("
        "  SELECT id FROM jobs j WHERE lane = ? AND next_try_at <= ? AND (lease_until <= ? OR owner = ?)"
        "  AND attempts < ? AND (? IS NULL OR kind IN (SELECT value FROM json_each(?)))"
        "  AND (lane = 'slow' OR NOT EXISTS (SELECT 1 FROM jobs e WHERE e.session_id = j.session_id"
        "    AND e.lane = j.lane AND e.id < j.id AND e.attempts < ?))"
        "  ORDER BY id LIMIT 1)"
        " RETURNING id, key, kind, session_id, payload_json, attempts, created_at, waits, lane, owner",
        (
            *(owner, now + LEASE_S, now, lane, now, now, owner),
            *(MAX_ATTEMPTS, wanted, wanted, MAX_ATTEMPTS),
        ),
    )
    return next(map(_read_job, rows), None)


def claim_by_key(c: Connection, owner: str, key: str, *, now: float) -> Job | None:
    """Lease a job that is waited for, due or not; None if it is gone or another process has it."""
    rows = c.execute(
        "UPDATE jobs SET owner = ?, lease_until = ?, started_at = ?, attempts = attempts + 1 WHERE key = ?"
        " AND (lease_until <= ? OR owner = ?)"
        " RETURNING id, key, kind, session_id, payload_json, attempts, created_at, waits, lane, owner",
        (owner, now + LEASE_S, now, key, now, owner),
    )
    return next(map(_read_job, rows), None)


def has_job(c: Connection, key: str) -> bool:
    """Whether a job of this key waits or runs and has attempts left."""
    row = c.execute("SELECT 1 FROM jobs WHERE key = ? AND attempts < ?", (key, MAX_ATTEMPTS)).fetchone()
    return row is not None


def get_due(c: Connection, key: str) -> float | None:
    """Return when a job may run next, in s; None if it is gone or ran out of attempts."""
    row = c.execute("SELECT next_try_at FROM jobs WHERE key = ? AND attempts < ?", (key, MAX_ATTEMPTS)).fetchone()
    return None if row is None else float(row[0])


def drop_job(c: Connection, key: str) -> None:
    """Take a job off the queue."""
    c.execute("DELETE FROM jobs WHERE key = ?", (key,))


def renew_lease(c: Connection, job: Job, owner: str, *, now: float) -> None:
    """Keep a running job leased."""
    c.execute("UPDATE jobs SET lease_until = ? WHERE id = ? AND owner = ?", (now + LEASE_S, job.id, owner))


def list_owners(c: Connection) -> tuple[str, ...]:
    """Return who leases jobs."""
    return tuple(owner for (owner,) in c.execute("SELECT DISTINCT owner FROM jobs WHERE owner IS NOT NULL"))


def release(c: Connection, owner: str, *, note: str) -> tuple[Job, ...]:
    """End the leases of an owner that is gone: its jobs, which are returned, can be taken at once."""
    rows = c.execute(
        "UPDATE jobs SET owner = NULL, lease_until = 0, error = ? WHERE owner = ?"
        " RETURNING id, key, kind, session_id, payload_json, attempts, created_at, waits, lane, owner",
        (note, owner),
    )
    return tuple(map(_read_job, rows))


class Hold(Enum):
    """Whether a job is still its holder's."""

    HELD = 0
    LOST = 1  # its lease ran out and another process has it
    GONE = 2  # it was done, or dropped


def check_hold(c: Connection, job: Job) -> Hold:
    """Say whether a job that was claimed is still its owner's."""
    row = c.execute("SELECT owner FROM jobs WHERE id = ? AND key = ?", (job.id, job.key)).fetchone()
    if row is None:
        return Hold.GONE
    return Hold.HELD if (row[0] or "") == job.owner else Hold.LOST


def finish_job(c: Connection, job: Job) -> None:
    # by both: a commit goes while its job runs, and its number may be another's by now
    c.execute("DELETE FROM jobs WHERE id = ? AND key = ?", (job.id, job.key))


def postpone_job(c: Connection, job: Job, *, error: str, now: float) -> None:
    """Give a failed job back with a back-off; after the last attempt it stays, listed as failed."""
    wait_s = BACKOFF_S[min(job.attempts, len(BACKOFF_S)) - 1]
    c.execute(
        "UPDATE jobs SET owner = NULL, lease_until = 0, next_try_at = ?, error = ?"
        " WHERE id = ? AND key = ? AND owner = ?",
        (now + wait_s, error, job.id, job.key, job.owner),
    )


def put_off(c: Connection, job: Job, *, until: float, note: str = "") -> None:
    """Give a job back whose time has not come; it counts as no attempt."""
    c.execute(
        "UPDATE jobs SET owner = NULL, lease_until = 0, attempts = max(attempts - 1, 0), waits = waits + 1,"
        " next_try_at = ?, error = nullif(?, '') WHERE id = ? AND key = ? AND owner = ?",
        (until, note, job.id, job.key, job.owner),
    )


def retry_failed(c: Connection) -> int:
    """Give jobs that ran out of attempts a fresh start; returns how many."""
    return len(
        list(
            c.execute(
                "UPDATE jobs SET attempts = 0, next_try_at = 0 WHERE attempts >= ? AND owner IS NULL RETURNING id",
                (MAX_ATTEMPTS,),
            )
        )
    )


def retry(c: Connection, job_id: int) -> bool:
    """Let one job run now, failed or waiting for its next try; False if it is gone or runs."""
    return bool(
        list(
            c.execute(
                "UPDATE jobs SET attempts = 0, next_try_at = 0 WHERE id = ? AND owner IS NULL RETURNING id", (job_id,)
            )
        )
    )


def retry_all(c: Connection) -> int:
    """Let every job that failed or waits for its next try run now; returns how many."""
    rows = c.execute(
        "UPDATE jobs SET attempts = 0, next_try_at = 0 WHERE owner IS NULL AND (attempts >= ? OR error IS NOT NULL)"
        " RETURNING id",
        (MAX_ATTEMPTS,),
    )
    return len(list(rows))


def count_jobs(c: Connection, session_id: SessionId | None = None) -> tuple[int, int]:
    """Return (waiting, failed)."""
    where, bindings = ("", ()) if session_id is None else (" WHERE session_id = ?", (session_id,))
    row = c.execute(
        f"SELECT count(*) FILTER (WHERE attempts < {MAX_ATTEMPTS}), count(*) FILTER (WHERE attempts >= {MAX_ATTEMPTS})"
        f" FROM jobs{where}",
        bindings,
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def load_errors(c: Connection) -> tuple[str, ...]:
    rows = c.execute("SELECT DISTINCT error FROM jobs WHERE error IS NOT NULL ORDER BY error")
    return tuple(error for (error,) in rows)


def _read_job(row: Row) -> Job:
    job_id, key, kind, session_id, payload, attempts, created_at, waits, lane, owner = row
    return Job(
        id=job_id,
        key=key,
        kind=kind,
        session_id=SessionId(session_id),
        payload=json.loads(payload),
        attempts=attempts,
        created_at=created_at,
        waits=waits,
        lane=lane,
        owner=owner or "",
    )
