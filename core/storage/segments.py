"""Segments: stretches of one conversation. The database allows one open segment each."""

import uuid
from dataclasses import dataclass

from core.model import BoundaryReason, Segment, SegmentId, SessionId, TurnId
from core.storage.database import Connection, Row

_COLUMNS = """segment_id, session_id, first_turn, last_turn, start_ts, end_ts, last_user_ts, turn_count,
  opened_by, gap_s, title, summary, centroid, vectors, model, status"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRow:
    """A segment as the archivist works on it; `centroid` is float32 little endian."""

    id: SegmentId
    session_id: SessionId
    first_turn: TurnId
    last_turn: TurnId
    start_ts: float
    end_ts: float | None
    last_user_ts: float
    turn_count: int
    opened_by: BoundaryReason | None
    gap_s: float | None
    title: str
    summary: str
    centroid: bytes | None
    vectors: int
    model: str | None
    is_open: bool


def get_open(c: Connection, session_id: SessionId) -> SegmentRow | None:
    rows = c.execute(f"SELECT {_COLUMNS} FROM segments WHERE session_id = ? AND status = 'open'", (session_id,))
    return next((_read(row) for row in rows), None)


def get(c: Connection, segment_id: SegmentId) -> SegmentRow | None:
    rows = c.execute(f"SELECT {_COLUMNS} FROM segments WHERE segment_id = ?", (segment_id,))
    return next((_read(row) for row in rows), None)


def open_new(
    c: Connection,
    session_id: SessionId,
    turn: TurnId,
    *,
    arrived: float,
    reply_end: float | None,
    opened_by: BoundaryReason | None,
    gap_s: float | None,
    centroid: bytes | None,
    model: str | None,
    title: str,
    now: float,
) -> SegmentId:
    """Start a segment with its first turn; the open one must have been closed before."""
    segment_id = SegmentId(f"seg-{uuid.uuid4()}")
    c.execute(
        "INSERT INTO segments(segment_id, session_id, first_turn, start_ts, end_ts, last_user_ts, turn_count,"
        " opened_by, gap_s, centroid, vectors, model, title, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            segment_id, session_id, turn, arrived, reply_end, arrived, opened_by, gap_s, centroid,
            int(centroid is not None), model, title, now, now,
        ),
    )  # fmt: skip
    return segment_id


def append_turn(
    c: Connection,
    segment_id: SegmentId,
    turn: TurnId,
    *,
    arrived: float,
    reply_end: float | None,
    centroid: bytes | None,
    vectors: int,
    model: str | None,
    title: str,
    now: float,
) -> None:
    """Add a turn to the open segment."""
    c.execute(
        "UPDATE segments SET last_turn = ?, turn_count = turn_count + 1, last_user_ts = ?,"
        " end_ts = coalesce(?, end_ts), centroid = ?, vectors = ?, model = ?, title = ?, updated_at = ?"
        " WHERE segment_id = ? AND status = 'open'",
        (turn, arrived, reply_end, centroid, vectors, model, title, now, segment_id),
    )


def close(
    c: Connection, segment_id: SegmentId, *, closed_by: BoundaryReason, title: str, summary: str, now: float
) -> bool:
    """Close an open segment; False if it was not open."""
    return bool(
        list(
            c.execute(
                "UPDATE segments SET status = 'closed', closed_by = ?, title = ?, summary = ?,"
                " summary_source = 'heuristic', updated_at = ? WHERE segment_id = ? AND status = 'open' RETURNING 1",
                (closed_by, title, summary, now, segment_id),
            )
        )
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


def load_all(c: Connection, session_id: SessionId) -> tuple[Segment, ...]:
    """Return a conversation's segments in order, each with its drift curve."""
    rows = [
        _read(row)
        for row in c.execute(f"SELECT {_COLUMNS} FROM segments WHERE session_id = ? ORDER BY first_turn", (session_id,))
    ]
    curve = [
        (turn, similarity)
        for turn, similarity in c.execute(
            "SELECT turn, similarity FROM turns WHERE session_id = ? AND similarity IS NOT NULL ORDER BY turn",
            (session_id,),
        )
    ]
    return tuple(
        Segment(
            id=row.id,
            session_id=row.session_id,
            first_turn=row.first_turn,
            last_turn=row.last_turn,
            turn_count=row.turn_count,
            started_at=row.start_ts,
            ended_at=row.end_ts,
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
    ) = row  # fmt: skip
    return SegmentRow(
        id=SegmentId(segment_id),
        session_id=SessionId(session_id),
        first_turn=TurnId(first_turn),
        last_turn=TurnId(first_turn if last_turn is None else last_turn),
        start_ts=start_ts,
        end_ts=end_ts,
        last_user_ts=last_user_ts,
        turn_count=turn_count,
        opened_by=None if opened_by is None else BoundaryReason(opened_by),
        gap_s=gap_s,
        title=title,
        summary=summary,
        centroid=centroid,
        vectors=vectors,
        model=model,
        is_open=status == "open",
    )
