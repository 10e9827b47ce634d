"""The log of background work and what stands in the queue, for the Activity tab and for `keepsake-jobs status`.

Owners are stored as the queue knows them and read as they are: the caller puts them into words.
"""

from collections.abc import Mapping

from core.activity import DoneJob, Health, JobState, KindCount, Outcome, QueuedJob, StepSuccess
from core.model import SessionId
from core.storage import queue, recaps, tombstones
from core.storage.database import Connection, Row
from core.storage.queue import MAX_ATTEMPTS, Job

KEPT_ENTRIES = 2_000
SHOWN_JOBS = 200
SHOWN_ENTRIES = 100
REDACTION_KINDS = ("password", "token", "api_key", "private_key", "secret", "card", "iban", "id")
_FILE_KINDS = (queue.MEMORY_FILES, "lessons", "goals", "librarian")  # what writes MEMORY.md and its kin
_STATES = f"""CASE WHEN attempts >= {MAX_ATTEMPTS} AND (owner IS NULL OR lease_until <= :now) THEN 'failed'
  WHEN owner IS NOT NULL AND lease_until > :now THEN 'running'
  WHEN next_try_at > :now THEN 'back-off' ELSE 'waiting' END"""


def log_end(
    c: Connection, job: Job, outcome: Outcome, owner: str, *, at: float, took_s: float, error: str = ""
) -> None:
    """Note how a job ended; one whose conversation is gone leaves no entry."""
    c.execute(
        "INSERT INTO job_log(at, kind, session_id, outcome, owner, took_s, error)"
        " SELECT ?, ?, session_id, ?, ?, ?, nullif(?, '') FROM conversations WHERE session_id = ?",
        (at, job.kind, outcome, owner, max(0.0, took_s), error, job.session_id),
    )
    if outcome is Outcome.DONE:
        note_success(c, job.kind, owner, at=at)
    _trim(c)


def log_steps(c: Connection, done: Mapping[str, int], owner: str, *, at: float) -> None:
    """Note how many steps of turns got through, like ones as one entry."""
    for kind, times in done.items():
        c.execute(
            "INSERT INTO job_log(at, kind, outcome, owner, times) VALUES (?, ?, 'done', ?, ?)", (at, kind, owner, times)
        )
        note_success(c, kind, owner, at=at)
    _trim(c)


def note_success(c: Connection, kind: str, owner: str, *, at: float) -> None:
    """Note when a step last got through."""
    c.execute(
        "INSERT INTO step_successes(kind, at, owner) VALUES (?, ?, ?)"
        " ON CONFLICT(kind) DO UPDATE SET at = excluded.at, owner = excluded.owner",
        (kind, at, owner),
    )


def load_jobs(c: Connection, *, now: float, states: tuple[JobState, ...]) -> tuple[QueuedJob, ...]:
    """Return the first jobs in some states, in the order they are due."""
    rows = c.execute(
        f"SELECT * FROM (SELECT j.id, j.kind, j.session_id, s.title, {_STATES} AS state, j.attempts, j.next_try_at,"
        " j.started_at, j.owner, j.progress, j.error FROM jobs j JOIN conversations s ON s.session_id = j.session_id)"
        " WHERE state IN (SELECT value FROM json_each(:states)) ORDER BY state = 'back-off', next_try_at, id"
        f" LIMIT {SHOWN_JOBS}",
        {"now": now, "states": "[" + ",".join(f'"{state}"' for state in states) + "]"},
    )
    return tuple(map(_read_queued, rows))


def count_kinds(c: Connection, *, now: float) -> tuple[KindCount, ...]:
    """Return how many jobs of each kind stand where."""
    rows = c.execute(
        f"SELECT kind, sum(state = 'running'), sum(state = 'waiting'), sum(state = 'back-off'), sum(state = 'failed')"
        f" FROM (SELECT kind, {_STATES} AS state FROM jobs) GROUP BY kind ORDER BY kind",
        {"now": now},
    )
    return tuple(
        KindCount(kind=kind, running=running, waiting=waiting, back_off=back_off, failed=failed)
        for kind, running, waiting, back_off, failed in rows
    )


def load_log(c: Connection, *, limit: int = SHOWN_ENTRIES) -> tuple[DoneJob, ...]:
    """Return what ended last, newest first."""
    rows = c.execute(
        "SELECT l.id, l.at, l.kind, l.outcome, l.owner, l.session_id, coalesce(s.title, ''), l.took_s, l.times,"
        " coalesce(l.error, '') FROM job_log l LEFT JOIN conversations s ON s.session_id = l.session_id"
        " ORDER BY l.id DESC LIMIT ?",
        (limit,),
    )
    return tuple(map(_read_done, rows))


def load_successes(c: Connection) -> tuple[StepSuccess, ...]:
    """Return when each step last got through."""
    rows = c.execute("SELECT kind, at, owner FROM step_successes ORDER BY kind")
    return tuple(StepSuccess(kind=kind, at=at, owner=owner) for kind, at, owner in rows)


def load_health(c: Connection, *, now: float) -> Health:
    """Return what waits or is missing."""
    kinds = ",".join(f"'{kind}'" for kind in _FILE_KINDS)
    return Health(
        turns_waiting=_count(c, "SELECT count(*) FROM turns WHERE hook = 'pending'"),
        twins_missing=_count(c, "SELECT count(*) FROM outbox WHERE step = 'twin'"),
        turns_to_remember=_count(c, "SELECT count(*) FROM outbox WHERE step = 'remember'"),
        recaps_missing=tuple((cause, count) for cause, count in recaps.count_causes(c)),
        vectors_missing=_count(
            c,
            "SELECT count(*) FROM vector_items i WHERE NOT EXISTS (SELECT 1 FROM vector_codes v WHERE v.item = i.id)",
        ),
        jobs_in_back_off=_count(
            c, f"SELECT count(*) FROM jobs WHERE attempts < {MAX_ATTEMPTS} AND next_try_at > :now", now=now
        ),
        refused_writes=_count(c, f"SELECT count(*) FROM jobs WHERE error IS NOT NULL AND kind IN ({kinds})"),
        tombstones=tombstones.count(c),
        redactions=tuple((kind, count) for kind in REDACTION_KINDS if (count := _count_marks(c, kind))),
    )


def _count_marks(c: Connection, kind: str) -> int:
    """How many messages hold the mark of a kind; the index knows it as a phrase."""
    row = c.execute(
        "SELECT count(*) FROM episodic_fts WHERE episodic_fts MATCH ?",
        (f'content : "redacted {kind.replace("_", " ")}"',),
    ).fetchone()
    return int(row[0]) if row else 0


def _count(c: Connection, sql: str, **bindings: float) -> int:
    row = c.execute(sql, bindings).fetchone()
    return int(row[0]) if row else 0


def _trim(c: Connection) -> None:
    c.execute("DELETE FROM job_log WHERE id <= ?", (c.last_insert_rowid() - KEPT_ENTRIES,))


def _read_queued(row: Row) -> QueuedJob:
    job_id, kind, session_id, title, state, attempts, due_at, started_at, owner, progress, error = row
    return QueuedJob(
        id=job_id,
        kind=kind,
        session_id=SessionId(session_id),
        title=title,
        state=JobState(state),
        attempts=attempts,
        due_at=due_at,
        started_at=started_at,
        owner=owner or "",
        progress=progress,
        error=error or "",
    )


def _read_done(row: Row) -> DoneJob:
    entry_id, at, kind, outcome, owner, session_id, title, took_s, times, error = row
    return DoneJob(
        id=entry_id,
        at=at,
        kind=kind,
        outcome=Outcome(outcome),
        owner=owner,
        session_id=SessionId(session_id) if session_id else None,
        title=title,
        took_s=took_s,
        times=times,
        error=error,
    )
