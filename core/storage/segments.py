"""Segments: stretches of one conversation. The database allows one open segment each."""

import uuid
from dataclasses import dataclass

from core.model import BoundaryReason, Segment, SegmentId, SessionId, TurnId
from core.storage.database import Connection, Row

_COLUMNS = """segment_id, session_id, first_turn, last_turn, start_ts, end_ts, last_user_ts, turn_count,
  opened_by, gap_s, title, summary, centroid, vectors, model, status,
  held_turn, held_vector, before_turn, before_end_ts, before_user_ts"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When the last message of a stretch arrived, and when its last reply ended (None: none did). In s."""

    arrived: float
    ended: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Centroid:
    """The mean of a segment's user vectors: float32 little endian, how many, and whose model."""

    vector: bytes | None
    count: int
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The segment's last turn, which may turn out to open the next one; `before` is how it stood without it."""

    turn: TurnId
    vector: bytes
    times: Times
    before: Times
    before_turn: TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRow:
    """A segment as the archivist works on it; `times` are those of its last turn."""

    id: SegmentId
    session_id: SessionId
    first_turn: TurnId
    last_turn: TurnId
    started_at: float
    times: Times
    turn_count: int
    opened_by: BoundaryReason | None
    gap_s: float | None
    title: str
    summary: str
    centroid: Centroid
    held: Held | None
    is_open: bool


def get_open(c: Connection, session_id: SessionId) -> SegmentRow | None:
    """Return the conversation's open segment."""
    rows = c.execute(f"SELECT {_COLUMNS} FROM segments WHERE session_id = ? AND status = 'open'", (session_id,))
    return next((_read(row) for row in rows), None)


def get(c: Connection, segment_id: SegmentId) -> SegmentRow | None:
    """Return a segment."""
    rows = c.execute(f"SELECT {_COLUMNS} FROM segments WHERE segment_id = ?", (segment_id,))
    return next((_read(row) for row in rows), None)


def open_new(
    c: Connection,
    session_id: SessionId,
    turn: TurnId,
    times: Times,
    centroid: Centroid,
    *,
    opened_by: BoundaryReason | None,
    gap_s: float | None,
    now: float,
) -> SegmentId:
    """Start a segment with its first turn; the open one must have been closed before."""
    segment_id = SegmentId(f"seg-{uuid.uuid4()}")
    c.execute(
        "INSERT INTO segments(segment_id, session_id, first_turn, start_ts, end_ts, last_user_ts, turn_count,"
        " opened_by, gap_s, centroid, vectors, model, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)",
        (
            segment_id, session_id, turn, times.arrived, times.ended, times.arrived, opened_by, gap_s,
            centroid.vector, centroid.count, centroid.model, now, now,
        ),
    )  # fmt: skip
    return segment_id


def append_turn(
    c: Connection,
    segment_id: SegmentId,
    turn: TurnId,
    times: Times,
    centroid: Centroid,
    *,
    held: bool,
    vector: bytes | None,
    now: float,
) -> None:
    """Add a turn to the open segment; a held one can be split off again."""
    c.execute(
        "UPDATE segments SET before_turn = coalesce(last_turn, first_turn), before_end_ts = end_ts,"
        " before_user_ts = last_user_ts, last_turn = ?, turn_count = turn_count + 1, last_user_ts = ?,"
        " end_ts = coalesce(?, end_ts), centroid = ?, vectors = ?, model = ?,"
        " held_turn = ?, held_vector = ?, updated_at = ? WHERE segment_id = ? AND status = 'open'",
        (
            turn, times.arrived, times.ended, centroid.vector, centroid.count, centroid.model,
            turn if held else None, vector if held else None, now, segment_id,
        ),
    )  # fmt: skip


def release(c: Connection, segment_id: SegmentId, centroid: Centroid) -> None:
    """Let the held turn join for good."""
    c.execute(
        "UPDATE segments SET held_turn = NULL, held_vector = NULL, centroid = ?, vectors = ?, model = ?"
        " WHERE segment_id = ?",
        (centroid.vector, centroid.count, centroid.model, segment_id),
    )


def shrink(c: Connection, segment_id: SegmentId) -> None:
    """Take the held turn out again."""
    c.execute(
        "UPDATE segments SET last_turn = CASE WHEN before_turn > first_turn THEN before_turn END,"
        " turn_count = turn_count - 1, end_ts = before_end_ts, last_user_ts = before_user_ts,"
        " held_turn = NULL, held_vector = NULL WHERE segment_id = ?",
        (segment_id,),
    )


def close(c: Connection, segment_id: SegmentId, *, closed_by: BoundaryReason, now: float) -> bool:
    """Close an open segment; False if it was not open. Its work is queued by a trigger."""
    return bool(
        list(
            c.execute(
                "UPDATE segments SET status = 'closed', closed_by = ?, summary_source = 'heuristic', updated_at = ?"
                " WHERE segment_id = ? AND status = 'open' RETURNING 1",
                (closed_by, now, segment_id),
            )
        )
    )


def name(c: Connection, segment_id: SegmentId, *, title: str, summary: str) -> None:
    """Give a closed segment what it has none of."""
    c.execute(
        "UPDATE segments SET title = CASE title WHEN '' THEN ? ELSE title END,"
        " summary = CASE summary WHEN '' THEN ? ELSE summary END WHERE segment_id = ? AND status <> 'open'",
        (title, summary, segment_id),
    )


def contains_turn(c: Connection, session_id: SessionId, turn: TurnId) -> bool:
    """Whether some segment of the conversation holds the turn already."""
    row = c.execute(
        "SELECT 1 FROM segments WHERE session_id = ? AND first_turn <= ? AND coalesce(last_turn, first_turn) >= ?",
        (session_id, turn, turn),
    ).fetchone()
    return row is not None


def find_idle(c: Connection, *, before: float) -> tuple[SegmentRow, ...]:
    """Return open segments whose last turn ended before a time."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM segments WHERE status = 'open' AND coalesce(end_ts, last_user_ts) < ?"
        " ORDER BY first_turn",
        (before,),
    )
    return tuple(_read(row) for row in rows)


def load_similarities(c: Connection, model: str, *, limit: int) -> tuple[float, ...]:
    """Return how near the user's messages were to their segments by a model's vectors, of the newest segments."""
    rows = c.execute(
        "SELECT t.similarity FROM segments s JOIN turns t ON t.session_id = s.session_id"
        " AND t.turn BETWEEN s.first_turn AND coalesce(s.last_turn, s.first_turn)"
        " WHERE s.model = ? AND t.similarity IS NOT NULL ORDER BY s.segment_id DESC LIMIT ?",
        (model, limit),
    )
    return tuple(similarity for (similarity,) in rows)


def load_all(c: Connection, session_id: SessionId) -> tuple[Segment, ...]:
    """Return a conversation's segments in order, each with its drift curve."""
    rows = [
        _read(row)
        for row in c.execute(f"SELECT {_COLUMNS} FROM segments WHERE session_id = ? ORDER BY first_turn", (session_id,))
    ]
    curve = list(
        c.execute(
            "SELECT turn, similarity FROM turns WHERE session_id = ? AND similarity IS NOT NULL ORDER BY turn",
            (session_id,),
        )
    )
    return tuple(
        Segment(
            id=row.id,
            session_id=row.session_id,
            first_turn=row.first_turn,
            last_turn=row.last_turn,
            turn_count=row.turn_count,
            started_at=row.started_at,
            ended_at=row.times.ended,
            is_open=row.is_open,
            opened_by=row.opened_by,
            gap_s=row.gap_s,
            title=row.title,
            summary=row.summary,
            similarities=tuple(value for turn, value in curve if row.first_turn <= turn <= row.last_turn),
        )
        for row in rows
    )


def _read(row: Row) -> SegmentRow:
    (
        segment_id, session_id, first_turn, last_turn, start_ts, end_ts, last_user_ts, turn_count,
        opened_by, gap_s, title, summary, centroid, vectors, model, status,
        held_turn, held_vector, before_turn, before_end_ts, before_user_ts,
    ) = row  # fmt: skip
    times = Times(arrived=last_user_ts, ended=end_ts)
    held = None
    if held_turn is not None:
        held = Held(
            turn=TurnId(held_turn),
            vector=held_vector,
            times=times,
            before=Times(arrived=before_user_ts, ended=before_end_ts),
            before_turn=TurnId(before_turn),
        )
    return SegmentRow(
        id=SegmentId(segment_id),
        session_id=SessionId(session_id),
        first_turn=TurnId(first_turn),
        last_turn=TurnId(first_turn if last_turn is None else last_turn),
        started_at=start_ts,
        times=times,
        turn_count=turn_count,
        opened_by=None if opened_by is None else BoundaryReason(opened_by),
        gap_s=gap_s,
        title=title,
        summary=summary,
        centroid=Centroid(vector=centroid, count=vectors, model=model),
        held=held,
        is_open=status == "open",
    )
