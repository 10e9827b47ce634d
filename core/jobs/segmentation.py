"""Where a turn belongs: the open segment, or a new one; a drift is held back for one turn.

`plan` is pure. A turn that seems to drift stays in the open segment for the time being, and the
next message decides: nearer to the held turn, and the new segment begins there; nearer to the
old centroid, and the held turn has joined for good (archivist.md section 5). The wait costs one
turn and saves cuts inside a topic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.archivist.boundaries import BoundaryRules, NewTurn, OpenSegment, find_boundary
from core.archivist.drift import confirm_drift, pack_vector, update_centroid
from core.archivist.topics import name_topic, summarise
from core.model import BoundaryReason, SegmentId, SessionId, TurnId
from core.storage import segments
from core.storage.database import Connection
from core.storage.segments import Centroid, SegmentRow, Times

MIN_TURNS = 2  # before a drift counts: one message (often a greeting) is no topic to drift from
NAMED_AT_TURNS = (2, 4, 8)  # of an open segment; its close names it for good


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A turn that is to be placed; `texts` are the user's of the open segment, this turn's included."""

    session_id: SessionId
    turn: TurnId
    times: Times
    text: str
    vector: bytes | None
    model: str | None
    texts: tuple[str, ...]
    recent_texts: tuple[str, ...]
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A finished segment's title and summary."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done, in this order: with a held turn, with the open segment, with this turn."""

    held_stands: bool | None  # None: no turn was held
    released: Centroid | None  # of the open segment once the held turn has joined it
    split_name: Named | None  # of what lies before a held turn that stands
    reason: BoundaryReason | None  # why this turn opens a segment; None: it joins, or is held
    held: bool  # this turn is held back
    similarity: float | None
    closed_name: Named | None  # of the segment that this turn closes
    centroid: Centroid  # of the segment that takes this turn
    topic: str  # of that segment


def plan(segment: SegmentRow | None, arrival: Arrival, rules: BoundaryRules, *, confirm: bool) -> Plan:
    """Place a turn; `confirm` False acts on a drift at once."""
    own = Centroid(vector=arrival.vector, count=int(arrival.vector is not None), model=arrival.model)
    if segment is None:
        return _opening(arrival, own)
    stands, released, split_name, texts = None, None, None, arrival.texts
    current = segment.centroid
    if segment.held is not None:
        stands = confirm_drift(segment.held.vector, arrival.vector, segment.centroid.vector, segment.centroid.model)
        if stands:
            split_name = name(texts[:-2], arrival.language)
            texts = texts[-2:]
            current = Centroid(vector=segment.held.vector, count=1, model=segment.centroid.model)
        else:
            current = released = fold(segment.centroid, segment.held.vector, segment.centroid.model)
    turn_count = len(texts) - 1
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
    if reason is BoundaryReason.DRIFT and turn_count < MIN_TURNS:
        reason = None
    held = confirm and reason is BoundaryReason.DRIFT
    opens = reason is not None and not held
    joins = current if held else fold(current, arrival.vector, arrival.model)
    return Plan(
        held_stands=stands,
        released=released,
        split_name=split_name,
        reason=reason if opens else None,
        held=held,
        similarity=boundary.similarity,
        closed_name=name(texts[:-1], arrival.language) if opens else None,
        centroid=own if opens else joins,
        topic=_name_open(segment, texts[-1:] if opens else texts, arrival.language),
    )


def store(c: Connection, segment: SegmentRow | None, arrival: Arrival, plan: Plan, *, now: float) -> SegmentId | None:
    """Carry a plan out in the caller's transaction; returns the newest segment that was closed."""
    closed: SegmentId | None = None
    if segment is not None and segment.held is not None:
        if plan.split_name is not None:
            closed = segment.id
            segment = split_held(c, segment, plan.split_name, now=now)
        elif plan.released is not None:
            segments.release(c, segment.id, plan.released)
    if segment is not None and plan.reason is None:
        segments.append_turn(
            c, segment, arrival.turn, arrival.times, plan.centroid, title=plan.topic, held=plan.held, now=now,
            vector=arrival.vector,
        )  # fmt: skip
        return closed
    gap_s = None
    if segment is not None and plan.reason is not None and plan.closed_name is not None:
        gap_s = max(0.0, arrival.times.arrived - (segment.times.ended or segment.times.arrived))
        named = plan.closed_name
        segments.close(c, segment.id, closed_by=plan.reason, title=named.title, summary=named.summary, now=now)
        closed = segment.id
    segments.open_new(
        c,
        arrival.session_id,
        arrival.turn,
        arrival.times,
        plan.centroid,
        opened_by=plan.reason,
        gap_s=gap_s,
        title=plan.topic,
        now=now,
    )
    return closed


def split_held(c: Connection, segment: SegmentRow, named: Named, *, now: float) -> SegmentRow:
    """Close a segment before its held turn and open the next one with that; returns the new one."""
    held = segment.held
    assert held is not None
    segments.shrink(c, segment)
    segments.close(c, segment.id, closed_by=BoundaryReason.DRIFT, title=named.title, summary=named.summary, now=now)
    new = segments.open_new(
        c,
        segment.session_id,
        held.turn,
        held.times,
        Centroid(vector=held.vector, count=1, model=segment.centroid.model),
        opened_by=BoundaryReason.DRIFT,
        gap_s=max(0.0, held.times.arrived - (held.before.ended or held.before.arrived)),
        title="",
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


def name(texts: Sequence[str], language: str) -> Named:
    """Name a finished segment by the user's texts."""
    return Named(title=name_topic(texts, language), summary=summarise(texts))


def _opening(arrival: Arrival, centroid: Centroid) -> Plan:
    return Plan(
        held_stands=None,
        released=None,
        split_name=None,
        reason=None,
        held=False,
        similarity=None,
        closed_name=None,
        centroid=centroid,
        topic=name_topic([arrival.text], arrival.language),
    )


def _name_open(segment: SegmentRow, texts: Sequence[str], language: str) -> str:
    """Name the open segment anew while it is young; later turns change its topic less and less."""
    if segment.title and len(texts) > 1 and len(texts) not in NAMED_AT_TURNS and len(texts) == segment.turn_count + 1:
        return segment.title
    return name_topic(texts, language)
