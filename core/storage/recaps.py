"""Closed segments as they are finished: what was said in them, their recap, the queue of tries."""

from dataclasses import dataclass
from typing import Literal

from core.model import RecapSource, Role, SegmentId, SegmentRecap, SessionId, TurnId
from core.storage import queue
from core.storage.database import Connection, Row

FINALISE = "finalise"
_COLUMNS = """s.segment_id, s.session_id, s.first_turn, coalesce(s.last_turn, s.first_turn), s.turn_count, s.status,
  s.revision, s.title, s.titled_by_user, s.summary, s.summary_source, s.attempts, s.next_try_at, s.updated_at,
  v.language FROM segments s JOIN conversations v ON v.session_id = s.session_id AND v.deleted_at IS NULL"""

Status = Literal["open", "closed", "summarised", "stale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A segment of a conversation that is there; times in s, `closed_at` while open the last change."""

    id: SegmentId
    session_id: SessionId
    first_turn: TurnId
    last_turn: TurnId
    turn_count: int
    status: Status
    revision: int
    title: str
    titled_by_user: bool
    summary: str
    source: str
    attempts: int
    next_try_at: float | None
    closed_at: float
    language: str  # of the conversation, "" while unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One indexed (redacted) message of a segment."""

    turn: TurnId
    role: Role
    at: float
    text: str
    lesson: str = ""


def get(c: Connection, segment_id: SegmentId) -> Stretch | None:
    """Return a segment; None if it or its conversation is gone."""
    return next((_read(row) for row in c.execute(f"SELECT {_COLUMNS} WHERE s.segment_id = ?", (segment_id,))), None)


def get_open(c: Connection, session_id: SessionId) -> Stretch | None:
    """Return the open segment of a conversation."""
    rows = c.execute(f"SELECT {_COLUMNS} WHERE s.session_id = ? AND s.status = 'open'", (session_id,))
    return next(map(_read, rows), None)


def load_spoken(c: Connection, session_id: SessionId, *, first: TurnId, last: TurnId) -> tuple[Spoken, ...]:
    """Return the messages of a stretch in order, the user's first: by turn, never by time or row id."""
    rows = c.execute(
        "SELECT turn, role, ts, content, lesson FROM episodic WHERE session_id = ? AND turn BETWEEN ? AND ?"
        " ORDER BY turn, role DESC",
        (session_id, first, last),
    )
    return tuple(
        Spoken(turn=TurnId(turn), role=Role(role), at=at, text=text, lesson=lesson or "")
        for turn, role, at, text, lesson in rows
    )


def store_recap(
    c: Connection,
    stretch: Stretch,
    *,
    summary: str,
    source: str,
    model: str | None,
    title: str,
    keywords: str,
) -> bool:
    """Store a usable recap; False if the segment changed since it was read."""
    return _was_written(
        c,
        "UPDATE segments SET status = 'summarised', summary = ?, summary_source = ?, summary_model = ?, title = ?,"
        " keywords = ?, attempts = 0, next_try_at = NULL, summary_error = ''"
        " WHERE segment_id = ? AND revision = ? AND status <> 'open' RETURNING 1",
        (summary, source, model, title, keywords, stretch.id, stretch.revision),
    )


def store_placeholder(
    c: Connection,
    stretch: Stretch,
    *,
    summary: str,
    title: str,
    keywords: str,
    attempts: int,
    next_try_at: float | None,
    error: str,
) -> bool:
    """Store what stands in for a recap; the segment stays closed. False if it changed since it was read."""
    return _was_written(
        c,
        "UPDATE segments SET status = 'closed', summary = ?, summary_source = 'heuristic', summary_model = NULL,"
        " title = ?, keywords = ?, attempts = ?, next_try_at = ?, summary_error = ?"
        " WHERE segment_id = ? AND revision = ? AND status <> 'open' RETURNING 1",
        (summary, title, keywords, attempts, next_try_at, error, stretch.id, stretch.revision),
    )


def load_states(c: Connection, session_id: SessionId) -> dict[SegmentId, SegmentRecap]:
    """Return how the recap of each closed segment of a conversation stands."""
    queued = c.execute(
        "SELECT json_extract(payload_json, '$.segment') FROM jobs"
        " WHERE session_id = ? AND kind IN ('finalise', 'recap')",
        (session_id,),
    )
    working = {segment_id for (segment_id,) in queued}
    rows = c.execute(
        "SELECT segment_id, summary_source, summary_model, summary_error, attempts, next_try_at, status,"
        " titled_by_user, keywords FROM segments WHERE session_id = ? AND status <> 'open'",
        (session_id,),
    )
    return {
        SegmentId(segment_id): SegmentRecap(
            source=RecapSource(source or "heuristic"),
            usable=status == "summarised",
            working=segment_id in working,
            model=model,
            error=error,
            attempts=attempts,
            next_try_at=next_try_at,
            named_by_user=bool(by_user),
            keywords=tuple(keywords.split()),
        )
        for segment_id, source, model, error, attempts, next_try_at, status, by_user, keywords in rows
    }


def load_pending(c: Connection) -> tuple[Stretch, ...]:
    """Return closed segments without a usable recap whose work was begun, oldest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} WHERE s.status IN ('closed', 'stale') AND s.finalised >= s.revision ORDER BY s.updated_at"
    )
    return tuple(map(_read, rows))


def load_closed(c: Connection) -> tuple[Stretch, ...]:
    """Return the segments that are closed, oldest first."""
    rows = c.execute(f"SELECT {_COLUMNS} WHERE s.status <> 'open' ORDER BY s.first_turn")
    return tuple(map(_read, rows))


def count_causes(c: Connection) -> tuple[tuple[str, int], ...]:
    """Return (why there is none, how many) of the recaps that are missing, most frequent first."""
    rows = c.execute(
        "SELECT s.summary_error, count(*) FROM segments s JOIN conversations v ON v.session_id = s.session_id"
        " WHERE s.status IN ('closed', 'stale') AND s.summary_error <> '' AND v.deleted_at IS NULL"
        " GROUP BY s.summary_error ORDER BY count(*) DESC"
    )
    return tuple((cause, count) for cause, count in rows)


def load_unfinalised(c: Connection, limit: int = 500) -> tuple[Stretch, ...]:
    """Return closed segments whose work no job is queued for: those of older stores, or a lost job's."""
    rows = c.execute(
        f"SELECT {_COLUMNS} WHERE s.status <> 'open' AND s.finalised < s.revision AND NOT EXISTS ("
        "  SELECT 1 FROM jobs j WHERE j.key = 'finalise:' || s.segment_id || ':' || s.revision) LIMIT ?",
        (limit,),
    )
    return tuple(map(_read, rows))


def ask_to_finalise(c: Connection, stretch: Stretch, *, at: float) -> None:
    """Queue the work of a closed segment, as its close does."""
    add_step(c, FINALISE, stretch, at=at)


def add_step(c: Connection, kind: str, stretch: Stretch, *, at: float, retry: bool = False) -> None:
    """Queue one step of a segment's work, once a revision; `retry`: once a try."""
    key = f"{kind}:{stretch.id}:{stretch.revision}" + (f":{stretch.attempts}" if retry else "")
    payload = {"segment": stretch.id, "revision": stretch.revision}
    queue.add_job(c, kind, stretch.session_id, payload, key=key, lane="slow", at=at)


def set_finalised(c: Connection, stretch: Stretch, *, status: Status | None = None) -> bool:
    """Note that the steps of a segment are queued; False if it changed since it was read."""
    return _was_written(
        c,
        "UPDATE segments SET finalised = revision, status = coalesce(?, status)"
        " WHERE segment_id = ? AND revision = ? AND status <> 'open' RETURNING 1",
        (status, stretch.id, stretch.revision),
    )


def refit(c: Connection, stretch: Stretch) -> bool:
    """Fit a closed segment to the turns that are left of it; False if none is and the segment went."""
    row = c.execute(
        "SELECT min(turn), max(turn), count(DISTINCT turn) FROM episodic WHERE session_id = ? AND turn BETWEEN ? AND ?",
        (stretch.session_id, stretch.first_turn, stretch.last_turn),
    ).fetchone()
    first, last, count = row or (0, 0, 0)
    if not count:
        c.execute("DELETE FROM segments WHERE segment_id = ? AND status <> 'open'", (stretch.id,))
        return False
    if (first, last, count) != (stretch.first_turn, stretch.last_turn, stretch.turn_count):
        c.execute(
            "UPDATE segments SET first_turn = ?, last_turn = ?, turn_count = ? WHERE segment_id = ?",
            (first, last if last > first else None, count, stretch.id),
        )
    return True


def _was_written(c: Connection, sql: str, bindings: tuple[object, ...]) -> bool:
    return bool(list(c.execute(sql, bindings)))


def _read(row: Row) -> Stretch:
    (
        segment_id, session_id, first_turn, last_turn, turn_count, status, revision, title, titled_by_user, summary,
        source, attempts, next_try_at, updated_at, language,
    ) = row  # fmt: skip
    return Stretch(
        id=SegmentId(segment_id),
        session_id=SessionId(session_id),
        first_turn=TurnId(first_turn),
        last_turn=TurnId(last_turn),
        turn_count=turn_count,
        status=status,
        revision=revision,
        title=title,
        titled_by_user=bool(titled_by_user),
        summary=summary,
        source=source,
        attempts=attempts,
        next_try_at=next_try_at,
        closed_at=updated_at,
        language=language,
    )
