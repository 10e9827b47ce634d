"""Facets of the profile: rows with their evidence, former values and contradictions."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import SegmentId, SessionId, TurnId
from core.storage.database import Connection, Row

_FACET = (
    "facet_id, subject, attribute, object, context, kind, class, value, compared, negative, confidence, origin, pinned,"
    " since, last_at, ended_at"
)
# the segment a turn lies in; a turn that is in none yet counts by itself
_SEGMENT_OF = """coalesce((SELECT s.segment_id FROM segments s WHERE s.session_id = t.session_id
  AND s.first_turn <= t.turn AND coalesce(s.last_turn, s.first_turn) >= t.turn LIMIT 1), 'turn-' || t.turn)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A turn that a value rests on; `at` in s, `former` the number of the former value it belongs to."""

    turn: TurnId
    session_id: SessionId
    segment_id: str
    at: float
    former: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerRow:
    """A value that held from `since` until `until` (s)."""

    id: int
    value: str
    compared: str
    negative: bool
    confidence: float
    origin: str
    since: float
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionRow:
    """A statement that did not replace the facet's value."""

    id: int
    value: str
    compared: str
    negative: bool
    confidence: float
    origin: str
    turn: TurnId
    session_id: SessionId
    segment_id: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetRow:
    """A facet; times in s, `ended_at` when its value was retracted."""

    id: str
    subject: str
    attribute: str
    object: str
    context: str
    kind: str
    facet_class: str
    value: str
    compared: str
    negative: bool
    confidence: float
    origin: str
    pinned: bool
    since: float
    last_at: float
    ended_at: float | None
    evidence: tuple[Evidence, ...] = ()  # of the present value, oldest first
    former_evidence: tuple[Evidence, ...] = ()
    history: tuple[FormerRow, ...] = ()  # newest first
    contradictions: tuple[ContradictionRow, ...] = ()

    @property
    def segments(self) -> tuple[str, ...]:
        """The distinct segments of the evidence, in order."""
        return tuple(dict.fromkeys(each.segment_id for each in self.evidence))


def make_id() -> str:
    """Return a new facet's id."""
    return f"fc-{uuid.uuid4()}"


def find_segment(c: Connection, turn: TurnId) -> str:
    """Return the segment a turn lies in, or a name of its own while it is in none."""
    row = c.execute(f"SELECT {_SEGMENT_OF} FROM turns t WHERE t.turn = ?", (turn,)).fetchone()
    return str(row[0]) if row else f"turn-{turn}"


def load_all(c: Connection) -> tuple[FacetRow, ...]:
    """Return every facet that rests on a conversation that is there, or on the user's own hand."""
    rows = list(c.execute(f"SELECT {_FACET} FROM facets ORDER BY since, facet_id"))
    loaded = (_complete(c, row) for row in rows)
    return tuple(facet for facet in loaded if facet.evidence or facet.origin == "user")


def get(c: Connection, facet_id: str) -> FacetRow | None:
    """Return a facet."""
    row = c.execute(f"SELECT {_FACET} FROM facets WHERE facet_id = ?", (facet_id,)).fetchone()
    return _complete(c, row) if row else None


def find_by_slot(c: Connection, subject: str, attribute: str, object_: str) -> tuple[FacetRow, ...]:
    """Return the facets of a slot in all its contexts, oldest first."""
    rows = list(
        c.execute(
            f"SELECT {_FACET} FROM facets WHERE subject = ? AND attribute = ? AND object = ? ORDER BY since, facet_id",
            (subject, attribute, object_),
        )
    )
    return tuple(_complete(c, row) for row in rows)


def put(c: Connection, facet: FacetRow) -> None:
    """Insert a facet or replace its own columns; evidence, history and contradictions are kept apart."""
    c.execute(
        f"INSERT INTO facets({_FACET}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(facet_id) DO UPDATE SET subject = excluded.subject, attribute = excluded.attribute,"
        " object = excluded.object, context = excluded.context, kind = excluded.kind, class = excluded.class,"
        " value = excluded.value, compared = excluded.compared, negative = excluded.negative,"
        " confidence = excluded.confidence, origin = excluded.origin, pinned = excluded.pinned,"
        " since = excluded.since, last_at = excluded.last_at, ended_at = excluded.ended_at",
        (
            facet.id, facet.subject, facet.attribute, facet.object, facet.context, facet.kind, facet.facet_class,
            facet.value, facet.compared, int(facet.negative), facet.confidence, facet.origin, int(facet.pinned),
            facet.since, facet.last_at, facet.ended_at,
        ),
    )  # fmt: skip


def add_evidence(c: Connection, facet_id: str, turn: TurnId, *, at: float, former: int | None = None) -> None:
    """Let a value rest on one more turn, once."""
    c.execute(
        "INSERT INTO facet_evidence(facet_id, former, turn, at) SELECT ?, ?, ?, ? WHERE NOT EXISTS"
        " (SELECT 1 FROM facet_evidence WHERE facet_id = ? AND turn = ? AND former IS ?)",
        (facet_id, former, turn, at, facet_id, turn, former),
    )


def retire_value(c: Connection, facet: FacetRow, *, until: float) -> None:
    """Move a facet's present value with its evidence to its history."""
    number = add_former(c, facet.id, _as_former(facet, until))
    c.execute("UPDATE facet_evidence SET former = ? WHERE facet_id = ? AND former IS NULL", (number, facet.id))


def _as_former(facet: FacetRow, until: float) -> FormerRow:
    return FormerRow(
        id=0,
        value=facet.value,
        compared=facet.compared,
        negative=facet.negative,
        confidence=facet.confidence,
        origin=facet.origin,
        since=facet.since,
        until=max(until, facet.since),
    )


def add_former(c: Connection, facet_id: str, former: FormerRow) -> int:
    """Add a value to a facet's history; returns its number."""
    rows = c.execute(
        "INSERT INTO facet_history(facet_id, value, compared, negative, confidence, origin, since, until)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            facet_id, former.value, former.compared, int(former.negative), former.confidence, former.origin,
            former.since, former.until,
        ),
    )  # fmt: skip
    return next(int(number) for (number,) in rows)


def add_contradiction(c: Connection, facet_id: str, contradiction: ContradictionRow) -> None:
    """Note a statement that did not win, once a turn."""
    c.execute(
        "INSERT INTO facet_contradictions(facet_id, value, compared, negative, confidence, origin, turn, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            facet_id, contradiction.value, contradiction.compared, int(contradiction.negative),
            contradiction.confidence, contradiction.origin, contradiction.turn, contradiction.at,
        ),
    )  # fmt: skip


def clear_contradictions(c: Connection, facet_id: str) -> None:
    """Let the open contradictions of a facet be settled."""
    c.execute("DELETE FROM facet_contradictions WHERE facet_id = ?", (facet_id,))


def delete(c: Connection, facet_id: str) -> None:
    """Delete a facet with all that hangs on it."""
    c.execute("DELETE FROM profile_changes WHERE item_id = ?", (facet_id,))
    c.execute("DELETE FROM facets WHERE facet_id = ?", (facet_id,))


def restore(c: Connection, facet: FacetRow) -> None:
    """Put a facet back as it was when it was read, with evidence, history and contradictions."""
    c.execute("DELETE FROM facets WHERE facet_id = ?", (facet.id,))
    put(c, facet)
    numbers = {former.id: add_former(c, facet.id, former) for former in facet.history}
    for each in (*facet.former_evidence, *facet.evidence):
        if c.execute("SELECT 1 FROM turns WHERE turn = ?", (each.turn,)).fetchone():
            former = None if each.former is None else numbers.get(each.former)
            add_evidence(c, facet.id, each.turn, at=each.at, former=former)
    for contradiction in facet.contradictions:
        if c.execute("SELECT 1 FROM turns WHERE turn = ?", (contradiction.turn,)).fetchone():
            add_contradiction(c, facet.id, contradiction)


def _complete(c: Connection, row: Row) -> FacetRow:
    facet_id = str(row[0])
    evidence = tuple(
        Evidence(turn=TurnId(turn), session_id=SessionId(session), segment_id=segment, at=at, former=former)
        for turn, session, segment, at, former in c.execute(
            f"SELECT t.turn, t.session_id, {_SEGMENT_OF}, e.at, e.former"
            " FROM facet_evidence e JOIN turns t USING (turn)"
            " JOIN conversations v ON v.session_id = t.session_id WHERE e.facet_id = ? AND v.deleted_at IS NULL"
            " ORDER BY e.at, t.turn",
            (facet_id,),
        )
    )
    history = tuple(
        FormerRow(
            id=i, value=value, compared=compared, negative=bool(negative), confidence=confidence, origin=origin,
            since=since, until=until,
        )
        for i, value, compared, negative, confidence, origin, since, until in c.execute(
            "SELECT id, value, compared, negative, confidence, origin, since, until FROM facet_history"
            " WHERE facet_id = ? ORDER BY until DESC, id DESC",
            (facet_id,),
        )
    )  # fmt: skip
    return FacetRow(
        id=facet_id,
        subject=row[1],
        attribute=row[2],
        object=row[3],
        context=row[4],
        kind=row[5],
        facet_class=row[6],
        value=row[7],
        compared=row[8],
        negative=bool(row[9]),
        confidence=row[10],
        origin=row[11],
        pinned=bool(row[12]),
        since=row[13],
        last_at=row[14],
        ended_at=row[15],
        evidence=tuple(each for each in evidence if each.former is None),
        former_evidence=tuple(each for each in evidence if each.former is not None),
        history=history,
        contradictions=_load_contradictions(c, facet_id),
    )


def _load_contradictions(c: Connection, facet_id: str) -> tuple[ContradictionRow, ...]:
    rows = c.execute(
        "SELECT x.id, x.value, x.compared, x.negative, x.confidence, x.origin, t.turn, t.session_id,"
        f" {_SEGMENT_OF}, x.at FROM facet_contradictions x"
        " JOIN turns t USING (turn) WHERE x.facet_id = ? ORDER BY x.at, x.id",
        (facet_id,),
    )
    return tuple(
        ContradictionRow(
            id=i,
            value=value,
            compared=compared,
            negative=bool(negative),
            confidence=confidence,
            origin=origin,
            turn=TurnId(turn),
            session_id=SessionId(session),
            segment_id=segment,
            at=at,
        )
        for i, value, compared, negative, confidence, origin, turn, session, segment, at in rows
    )


def find_closed_segments(c: Connection, turns: Sequence[TurnId]) -> tuple[SegmentId, ...]:
    """Return the closed segments that hold any of these turns."""
    found = [
        SegmentId(segment)
        for turn in turns
        for (segment,) in c.execute(
            "SELECT s.segment_id FROM turns t JOIN segments s ON s.session_id = t.session_id AND s.first_turn <= t.turn"
            " AND coalesce(s.last_turn, s.first_turn) >= t.turn WHERE t.turn = ? AND s.status <> 'open'",
            (turn,),
        )
    ]
    return tuple(dict.fromkeys(found))
