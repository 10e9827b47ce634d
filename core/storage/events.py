"""Events: what users stated, with the turns it rests on; and the log of what that changed in the profile."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import SegmentId, SessionId, TurnId
from core.storage.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRow:
    """An indexed message of the user's; `at` in s."""

    turn: TurnId
    session_id: SessionId
    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """A stored event."""

    id: str
    session_id: SessionId
    segment_id: str
    kind: str
    text: str
    key: str
    negative: bool
    confidence: float
    subject: str
    due: str | None
    rule: str
    turns: tuple[TurnId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """One change of an event or facet, as an archive's `memory_diff.json` lists it."""

    op: str  # add, update or retire
    kind: str  # event or facet
    id: str
    before: str | None
    after: str | None
    turns: tuple[TurnId, ...]


_EVENT = (
    "e.event_id, e.session_id, e.segment_id, e.kind, e.text, e.key, e.negative, e.confidence, e.subject, e.due, e.rule"
)


def load_user_rows(
    c: Connection, session_id: SessionId, *, first: TurnId | None = None, last: TurnId | None = None
) -> tuple[UserRow, ...]:
    """Return the indexed messages of the user's of a stretch of turns, in order."""
    rows = c.execute(
        "SELECT turn, content, ts FROM episodic WHERE session_id = ? AND role = 'user'"
        " AND turn >= coalesce(?, 0) AND turn <= coalesce(?, 9223372036854775807) ORDER BY turn",
        (session_id, first, last),
    )
    return tuple(UserRow(turn=TurnId(t), session_id=session_id, text=text, at=at) for t, text, at in rows)


def load_unread(c: Connection, *, limit: int) -> tuple[tuple[TurnId, str], ...]:
    """Return the user's newest messages that no extraction has read yet, as (turn, redacted text)."""
    rows = c.execute(
        "SELECT turn, content FROM episodic e WHERE role = 'user'"
        " AND NOT EXISTS (SELECT 1 FROM events_read r WHERE r.turn = e.turn) ORDER BY turn DESC LIMIT ?",
        (limit,),
    )
    return tuple((TurnId(turn), text) for turn, text in rows)


def load_read_digests(c: Connection, turns: Sequence[TurnId]) -> dict[TurnId, str]:
    """Return the digest of the text that each turn was read with."""
    found: dict[TurnId, str] = {}
    for turn in turns:
        row = c.execute("SELECT digest FROM events_read WHERE turn = ?", (turn,)).fetchone()
        if row is not None:
            found[turn] = str(row[0])
    return found


def set_read(c: Connection, turn: TurnId, digest: str) -> None:
    """Note that a turn was read."""
    c.execute(
        "INSERT INTO events_read(turn, digest) VALUES (?, ?) ON CONFLICT(turn) DO UPDATE SET digest = excluded.digest",
        (turn, digest),
    )


def clear_turn(c: Connection, turn: TurnId) -> None:
    """Take back what came of a turn's text, for it is to be read anew."""
    c.execute("DELETE FROM event_turns WHERE turn = ?", (turn,))
    c.execute("DELETE FROM facet_evidence WHERE turn = ?", (turn,))
    c.execute("DELETE FROM facet_contradictions WHERE turn = ?", (turn,))
    c.execute("DELETE FROM profile_changes WHERE turn = ?", (turn,))
    c.execute("DELETE FROM events_read WHERE turn = ?", (turn,))


def put(c: Connection, event: EventRow) -> tuple[str, bool]:
    """Store an event, or add its turns to the same one of its segment; returns (id, whether it is new)."""
    row = c.execute(
        "SELECT event_id FROM events WHERE session_id = ? AND segment_id = ? AND kind = ? AND key = ?",
        (event.session_id, event.segment_id, event.kind, event.key),
    ).fetchone()
    event_id = str(row[0]) if row else event.id or f"ev-{uuid.uuid4()}"
    if row is None:
        c.execute(
            "INSERT INTO events(event_id, session_id, segment_id, kind, text, key, negative, confidence, subject, due,"
            " rule, first_turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event_id, event.session_id, event.segment_id, event.kind, event.text, event.key, int(event.negative),
                event.confidence, event.subject, event.due, event.rule, event.turns[0],
            ),
        )  # fmt: skip
    else:
        c.execute("UPDATE events SET due = coalesce(?, due) WHERE event_id = ?", (event.due, event_id))
    c.executemany(
        "INSERT INTO event_turns(event_id, turn) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(event_id, turn) for turn in event.turns],
    )
    return event_id, row is None


def move_to_segment(c: Connection, session_id: SessionId, segment_id: str, *, first: TurnId, last: TurnId) -> None:
    """Let the events of a stretch belong to the segment that holds it now; repeats that meet are joined."""
    rows = list(
        c.execute(
            "SELECT event_id, kind, key FROM events WHERE session_id = ? AND first_turn BETWEEN ? AND ?"
            " ORDER BY first_turn, rowid",
            (session_id, first, last),
        )
    )
    kept: dict[tuple[str, str], str] = {}
    for event_id, kind, key in rows:
        into = kept.setdefault((str(kind), str(key)), str(event_id))
        if into == event_id:
            c.execute("UPDATE events SET segment_id = ? WHERE event_id = ?", (segment_id, event_id))
            continue
        c.execute(
            "INSERT INTO event_turns(event_id, turn) SELECT ?, turn FROM event_turns WHERE event_id = ?"
            " ON CONFLICT DO NOTHING",
            (into, event_id),
        )
        c.execute("DELETE FROM events WHERE event_id = ?", (event_id,))


def load(c: Connection, session_id: SessionId) -> tuple[EventRow, ...]:
    """Return the events of a conversation, in order."""
    rows = list(
        c.execute(f"SELECT {_EVENT} FROM events e WHERE e.session_id = ? ORDER BY e.first_turn, e.rowid", (session_id,))
    )
    turns: dict[str, list[TurnId]] = {}
    for event_id, turn in c.execute(
        "SELECT t.event_id, t.turn FROM event_turns t JOIN events e USING (event_id) WHERE e.session_id = ?"
        " ORDER BY t.turn",
        (session_id,),
    ):
        turns.setdefault(str(event_id), []).append(TurnId(turn))
    return tuple(
        EventRow(
            id=row[0],
            session_id=SessionId(row[1]),
            segment_id=row[2],
            kind=row[3],
            text=row[4],
            key=row[5],
            negative=bool(row[6]),
            confidence=row[7],
            subject=row[8],
            due=row[9],
            rule=row[10],
            turns=tuple(turns.get(row[0], ())),
        )
        for row in rows
    )


def load_of_segment(c: Connection, segment_id: SegmentId) -> tuple[EventRow, ...]:
    """Return the events of a segment, in order."""
    row = c.execute("SELECT session_id FROM segments WHERE segment_id = ?", (segment_id,)).fetchone()
    if row is None:
        return ()
    return tuple(event for event in load(c, SessionId(row[0])) if event.segment_id == segment_id)


def load_of_turns(c: Connection, turns: Sequence[TurnId]) -> tuple[EventRow, ...]:
    """Return the events that rest on any of these turns."""
    ids = list(
        dict.fromkeys(
            (str(event), str(session))
            for turn in turns
            for event, session in c.execute(
                "SELECT e.event_id, e.session_id FROM event_turns t JOIN events e USING (event_id) WHERE t.turn = ?",
                (turn,),
            )
        )
    )
    sessions = dict.fromkeys(session for _, session in ids)
    wanted = {event for event, _ in ids}
    return tuple(event for session in sessions for event in load(c, SessionId(session)) if event.id in wanted)


def delete(c: Connection, event_ids: Sequence[str]) -> None:
    """Delete events with all that names them."""
    for event_id in event_ids:
        c.execute("DELETE FROM profile_changes WHERE item_id = ?", (event_id,))
        c.execute("DELETE FROM events WHERE event_id = ?", (event_id,))


def log_change(
    c: Connection,
    *,
    op: str,
    kind: str,
    item_id: str,
    before: str | None,
    after: str | None,
    turn: TurnId | None,
    at: float,
) -> None:
    """Note a change; it is gone when what it names is forgotten or its turn deleted."""
    c.execute(
        "INSERT INTO profile_changes(at, op, kind, item_id, before, after, turn) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (at, op, kind, item_id, before, after, turn),
    )


def load_changes(c: Connection, turns: Sequence[TurnId]) -> tuple[ProfileChange, ...]:
    """Return what some turns changed, in order."""
    found: list[tuple[int, ProfileChange]] = []
    for turn in turns:
        found += [
            (
                int(number),
                ProfileChange(op=op, kind=kind, id=item_id, before=before, after=after, turns=(TurnId(turn),)),
            )
            for number, op, kind, item_id, before, after in c.execute(
                "SELECT id, op, kind, item_id, before, after FROM profile_changes WHERE turn = ?", (turn,)
            )
        ]
    return tuple(change for _, change in sorted(found, key=lambda pair: pair[0]))
