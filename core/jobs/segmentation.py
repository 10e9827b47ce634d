"""Where a turn belongs: the open segment, or a new one; a drift is held back for one turn.

`plan` is pure. A turn that seems to drift stays in the open segment for the time being, and the
next message decides: nearer to the held turn, and the new segment begins there; nearer to the
old centroid, and the held turn has joined for good (archivist.md section 5); it joins too where a
silence or a marker follows, for then nothing went on from it. The wait costs one turn and saves
cuts inside a topic. A segment is named when it is finished (`jobs.finalise`).
"""

from dataclasses import dataclass

from core.archivist.boundaries import BoundaryRules, NewTurn, OpenSegment, find_boundary
from core.archivist.drift import confirm_drift, pack_vector, update_centroid
from core.archivist.markers import is_acknowledgement
from core.archivist.topic_shift import NEAR, Look, Scorers, Spoken, find_scorers, leaves_topic
from core.model import BoundaryReason, SegmentId, SessionId, TurnId
from core.storage import segments
from core.storage.database import Connection
from core.storage.segments import Centroid, Held, SegmentRow, Times

MIN_TURNS = 2  # before a drift counts: one message (often a greeting) is no topic to drift from


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A turn that is to be placed."""

    session_id: SessionId
    turn: TurnId
    times: Times
    text: str
    vector: bytes | None
    model: str | None
    recent_texts: tuple[str, ...]
    language: str
    spoken: tuple[tuple[TurnId, Spoken], ...] = ()  # the user's last messages with vectors, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done, in this order: with a held turn, with the open segment, with this turn."""

    held_stands: bool | None  # None: no turn was held
    released: Centroid | None  # of the open segment once the held turn has joined it
    reason: BoundaryReason | None  # why this turn opens a segment; None: it joins, or is held
    held: bool  # this turn is held back
    similarity: float | None
    centroid: Centroid  # of the segment that takes this turn


def plan(segment: SegmentRow | None, arrival: Arrival, rules: BoundaryRules, *, confirm: bool) -> Plan:
    """Place a turn; `confirm` False acts on a drift at once."""
    own = Centroid(vector=arrival.vector, count=int(arrival.vector is not None), model=arrival.model)
    if segment is None:
        return Plan(held_stands=None, released=None, reason=None, held=False, similarity=None, centroid=own)
    stands, released, current, first_turn = None, None, segment.centroid, segment.first_turn
    turn_count = segment.turn_count
    if segment.held is not None:
        stands = not _breaks_off(segment, arrival, rules) and _drifted_for_good(segment, segment.held, arrival, rules)
        if stands:
            current = Centroid(vector=segment.held.vector, count=1, model=segment.centroid.model)
            turn_count, first_turn = 1, segment.held.turn
        else:
            current = released = fold(segment.centroid, segment.held.vector, segment.centroid.model)
    boundary = find_boundary(
        OpenSegment(
            turn_count=turn_count,
            start_ts=segment.times.arrived,
            end_ts=segment.times.ended,
            centroid=current.vector,
            model=current.model,
            recent_texts=arrival.recent_texts[-2 * turn_count :],
        ),
        NewTurn(ts=arrival.times.arrived, text=arrival.text, embedding=arrival.vector, model=arrival.model),
        rules,
    )
    reason = boundary.reason
    if reason in (None, BoundaryReason.DRIFT) and confirm and boundary.similarity is not None:
        reason = _look_first(reason, arrival, current, turn_count, first_turn, rules)
    if reason is BoundaryReason.DRIFT and turn_count < MIN_TURNS:
        reason = None
    held = confirm and reason is BoundaryReason.DRIFT
    opens = reason is not None and not held
    joins = current if held else fold(current, arrival.vector, arrival.model)
    return Plan(
        held_stands=stands,
        released=released,
        reason=reason if opens else None,
        held=held,
        similarity=boundary.similarity,
        centroid=own if opens else joins,
    )


def _look_first(
    reason: BoundaryReason | None,
    arrival: Arrival,
    current: Centroid,
    turn_count: int,
    first_turn: TurnId,
    rules: BoundaryRules,
) -> BoundaryReason | None:
    """Say whether a message seems to drift, by the scorer of its embedding model where there is one."""
    scorers = _choose_scorers(arrival.model, rules)
    if scorers is None or is_acknowledgement(arrival.text):
        return reason
    look = Look(
        before=_said_before(arrival, first_turn, arrival.turn),
        centroid=current.vector,
        count=turn_count,
        message=Spoken(text=arrival.text, vector=arrival.vector),
    )
    found = leaves_topic(look, scorers.first, arrival.model)
    if found is None:
        return reason
    return BoundaryReason.DRIFT if found else None


def _drifted_for_good(segment: SegmentRow, held: Held, arrival: Arrival, rules: BoundaryRules) -> bool:
    """Say whether a held turn opens a segment, now that the next message is there."""
    scorers = _choose_scorers(segment.centroid.model, rules)
    texts = {turn: spoken.text for turn, spoken in arrival.spoken}
    if scorers is not None and held.turn in texts:
        look = Look(
            before=_said_before(arrival, segment.first_turn, held.turn),
            centroid=segment.centroid.vector,
            count=segment.turn_count - 1,
            message=Spoken(text=texts[held.turn], vector=held.vector),
            following=Spoken(text=arrival.text, vector=arrival.vector),
        )
        found = leaves_topic(look, scorers.second, segment.centroid.model)
        if found is not None:
            return found
    return confirm_drift(held.vector, arrival.vector, segment.centroid.vector, segment.centroid.model)


def _choose_scorers(model: str | None, rules: BoundaryRules) -> Scorers | None:
    """A threshold that the user chose stands above what was measured."""
    return find_scorers(model) if rules.min_cosine is None else None


def _said_before(arrival: Arrival, first: TurnId, end: TurnId) -> tuple[Spoken, ...]:
    """Return the user's messages of a segment before one of its turns."""
    return tuple(spoken for turn, spoken in arrival.spoken if first <= turn < end)[-NEAR:]


def _breaks_off(segment: SegmentRow, arrival: Arrival, rules: BoundaryRules) -> bool:
    """Say whether a silence or a marker ends the talk here: what comes then does not go on with a held turn.

    A last word before a silence (often a good-bye) would else be a segment of its own.
    """
    open_segment = OpenSegment(turn_count=1, start_ts=segment.times.arrived, end_ts=segment.times.ended)
    reason = find_boundary(open_segment, NewTurn(ts=arrival.times.arrived, text=arrival.text), rules).reason
    return reason in (BoundaryReason.TIME_GAP, BoundaryReason.MARKER)


def store(c: Connection, segment: SegmentRow | None, arrival: Arrival, plan: Plan, *, now: float) -> SegmentId | None:
    """Carry a plan out in the caller's transaction; returns the newest segment that was closed."""
    closed: SegmentId | None = None
    if segment is not None and plan.held_stands:
        closed = segment.id
        segment = split_held(c, segment, now=now)
    elif segment is not None and plan.released is not None:
        segments.release(c, segment.id, plan.released)
    if segment is not None and plan.reason is None:
        segments.append_turn(
            c, segment.id, arrival.turn, arrival.times, plan.centroid, held=plan.held, vector=arrival.vector, now=now
        )
        return closed
    gap_s = None
    if segment is not None and plan.reason is not None:
        gap_s = max(0.0, arrival.times.arrived - (segment.times.ended or segment.times.arrived))
        segments.close(c, segment.id, closed_by=plan.reason, now=now)
        closed = segment.id
    segments.open_new(
        c,
        arrival.session_id,
        arrival.turn,
        arrival.times,
        plan.centroid,
        opened_by=plan.reason,
        gap_s=gap_s,
        now=now,
    )
    return closed


def split_held(c: Connection, segment: SegmentRow, *, now: float) -> SegmentRow:
    """Close a segment before its held turn and open the next one with that; returns the new one."""
    held = segment.held
    assert held is not None
    segments.shrink(c, segment.id)
    shrunk = segments.get(c, segment.id)
    assert shrunk is not None
    segments.close(c, shrunk.id, closed_by=BoundaryReason.DRIFT, now=now)
    new = segments.open_new(
        c,
        segment.session_id,
        held.turn,
        held.times,
        Centroid(vector=held.vector, count=1, model=segment.centroid.model),
        opened_by=BoundaryReason.DRIFT,
        gap_s=max(0.0, held.times.arrived - (held.before.ended or held.before.arrived)),
        now=now,
    )
    row = segments.get(c, new)
    assert row is not None  # made just now
    return row


def fold(centroid: Centroid, vector: bytes | None, model: str | None) -> Centroid:
    """Return the centroid with one more vector in it."""
    if vector is None:
        return centroid
    updated = update_centroid(centroid.vector, vector, centroid.count, model=centroid.model, new_model=model)
    packed = None if updated.centroid is None else pack_vector(updated.centroid)
    return Centroid(vector=packed, count=updated.count, model=model if centroid.vector is None else centroid.model)
