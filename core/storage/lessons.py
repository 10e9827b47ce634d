"""Which tools failed where: the lessons of turns with the segments they lie in."""

from dataclasses import dataclass

from core.model import SegmentId, SessionId, TurnId
from core.storage.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A lesson, its turn and segment."""

    lesson: str
    turn: TurnId
    segment_id: SegmentId


def holds(c: Connection, session_id: SessionId, *, first: TurnId, last: TurnId) -> bool:
    """Whether a stretch of turns holds a lesson."""
    row = c.execute(
        "SELECT EXISTS(SELECT 1 FROM episodic WHERE lesson IS NOT NULL AND session_id = ? AND turn BETWEEN ? AND ?)",
        (session_id, first, last),
    ).fetchone()
    return bool(row and row[0])


def load(c: Connection) -> tuple[Taught, ...]:
    """Return every lesson of a closed segment, oldest first."""
    rows = c.execute(
        "SELECT e.lesson, e.turn, s.segment_id FROM episodic e JOIN segments s ON s.session_id = e.session_id"
        " AND s.first_turn <= e.turn AND coalesce(s.last_turn, s.first_turn) >= e.turn AND s.status <> 'open'"
        " WHERE e.lesson IS NOT NULL ORDER BY e.turn"
    )
    return tuple(Taught(lesson=lesson, turn=TurnId(turn), segment_id=SegmentId(i)) for lesson, turn, i in rows)
