"""The profile in the store: statements become evidence, facets, history and contradictions there.

Functions over one open transaction of the caller's. Relies on `core.profile.merging` for what a statement does
and on tombstones for what must not come back.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.model import FacetOrigin, SessionId, TurnId
from core.profile.events import Event, UserText, event_key, find_events
from core.profile.merging import Claim, Contradiction, Facet, Former, Outcome, merge, outranks
from core.profile.payloads import read_payload
from core.profile.slots import Reading, Relation, Slot, read_statement, relate
from core.profile.strength import classify
from core.storage import events, facets, tombstones
from core.storage.database import Connection
from core.storage.events import EventRow, UserRow
from core.storage.facets import ContradictionRow, FacetRow, FormerRow
from core.text.orders import COMMAND_CONFIDENCE, find_commands
from core.text.statements import StatementKind

RULES = "1"  # raised when rules find other events in the same words: then turns are read again

FORGOTTEN_MARK = "[forgotten]"  # stands in the index where words were taken out
LocalTime = Callable[[float], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Where and when something was said, and how sure and by whom it is."""

    turn: TurnId | None
    at: float  # s
    origin: FacetOrigin
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTurn:
    """A user's message with what it states."""

    row: UserRow
    digest: str  # of the text and of the rules it was read with
    stated: tuple[tuple[Event, Reading | None], ...]
    ordered: tuple[Reading, ...] = ()  # by "remember …"


def read_turn(row: UserRow, local_time: LocalTime) -> ReadTurn:
    """Return what a message states; pure, and what takes time in an extraction."""
    digest = hashlib.sha256(f"{RULES}\0{row.text}".encode()).hexdigest()[:32]
    text = row.text.replace(FORGOTTEN_MARK, "\n")  # ends a sentence
    found = find_events([UserText(turn=row.turn, text=text, at=local_time(row.at))])
    stated = []
    for event in found:
        reading = read_statement(event.kind, event.text)
        stated.append((event, replace(reading, negative=event.negative) if reading else None))
    orders = [command.payload for command in find_commands(text) if command.command == "remember"]
    ordered = tuple(dict.fromkeys(reading for payload in orders for reading in read_payload(payload)))
    return ReadTurn(row=row, digest=digest, stated=tuple(stated), ordered=ordered)


def extract(c: Connection, turns: Sequence[ReadTurn]) -> bool:
    """Store the events of turns that were not read yet and let them do to the profile what they do.

    A turn whose text changed since is read anew. True if something was read.
    """
    read = events.load_read_digests(c, [turn.row.turn for turn in turns])
    fresh = [turn for turn in turns if read.get(turn.row.turn) != turn.digest]
    for turn in fresh:
        if turn.row.turn in read:
            events.clear_turn(c, turn.row.turn)
        _store_turn(c, turn)
        events.set_read(c, turn.row.turn, turn.digest)
    return bool(fresh)


def _store_turn(c: Connection, turn: ReadTurn) -> None:
    if not turn.ordered and not turn.stated:  # most turns
        return
    row, segment, forgotten = turn.row, facets.find_segment(c, turn.row.turn), tombstones.load_all(c)
    for ordered in turn.ordered:
        if not is_buried(ordered, forgotten):
            order = Said(turn=row.turn, at=row.at, origin=FacetOrigin.EXPLICIT, confidence=COMMAND_CONFIDENCE)
            put_ordered(c, ordered, order, row.session_id, segment)
    for event, reading in turn.stated:
        if reading is not None and is_buried(reading, forgotten):
            continue
        _put_event(c, event, row, segment)
        if reading is not None:
            _place(c, reading, Said(turn=row.turn, at=row.at, origin=FacetOrigin.STATED, confidence=event.confidence))


def put_ordered(
    c: Connection, reading: Reading, said: Said, session_id: SessionId, segment: str
) -> tuple[Outcome | None, str]:
    """Store what an order to remember says, as an event and in the profile."""
    if said.turn is not None:
        event = Event(
            kind=reading.kind,
            text=reading.text,
            negative=reading.negative,
            confidence=said.confidence,
            subject=reading.slot.subject,
            due=None,
            rule="command",
            turns=(said.turn,),
        )
        _put_event(c, event, UserRow(turn=said.turn, session_id=session_id, text="", at=said.at), segment)
    return take_reading(c, reading, said)


def _put_event(c: Connection, event: Event, row: UserRow, segment: str) -> None:
    event_id, new = events.put(c, _as_row(event, row, segment))
    if new:
        events.log_change(
            c, op="add", kind="event", item_id=event_id, before=None, after=event.text, turn=row.turn, at=row.at
        )


def _as_row(event: Event, row: UserRow, segment: str) -> EventRow:
    return EventRow(
        id="",
        session_id=row.session_id,
        segment_id=segment,
        kind=str(event.kind),
        text=event.text,
        key=event_key(event.text),
        negative=event.negative,
        confidence=event.confidence,
        subject=event.subject,
        due=event.due,
        rule=event.rule,
        turns=(row.turn,),
    )


def is_buried(reading: Reading, forgotten: frozenset[str]) -> bool:
    """Whether exactly this was forgotten."""
    return not forgotten.isdisjoint(reading.hashes())


def take_reading(c: Connection, reading: Reading, said: Said) -> tuple[Outcome | None, str]:
    """Let a statement do to the profile what it does; returns (outcome, facet id), None where nothing came of it."""
    if said.origin.rank < FacetOrigin.EXPLICIT.rank:
        if is_buried(reading, tombstones.load_all(c)):
            return Outcome.SUPPRESSED, ""
    else:
        tombstones.lift(c, reading.hashes())
    return _place(c, reading, said)


def _place(c: Connection, reading: Reading, said: Said) -> tuple[Outcome | None, str]:
    """Do as `take_reading` does with a statement that is known not to be forgotten."""
    row = _find_facet(c, reading)
    if row is not None and _is_known(row, reading, said):
        return Outcome.UNCHANGED, row.id
    if reading.is_retraction:
        return _retract(c, row, reading, said)
    if row is None or row.ended_at is not None:
        return Outcome.CREATED, _create(c, row, reading, said)
    return _merge(c, row, reading, said)


def _is_known(row: FacetRow, reading: Reading, said: Said) -> bool:
    """Whether this turn said this already, with no less weight."""
    return (
        any(each.turn == said.turn for each in row.evidence)
        and said.origin.rank <= FacetOrigin(row.origin).rank
        and relate(as_reading(row), reading) is Relation.RESTATES
    )


def _find_facet(c: Connection, reading: Reading) -> FacetRow | None:
    """Return the facet of a statement's slot: of its own context before one without."""
    slot = reading.slot
    found = [f for f in facets.find_by_slot(c, slot.subject, slot.attribute, slot.object) if as_slot(f).meets(slot)]
    found.sort(
        key=lambda f: (
            f.ended_at is None,
            f.context == slot.context,
            relate(as_reading(f), reading) is Relation.RESTATES,
            f.last_at,
        )
    )
    return found[-1] if found else None


def as_slot(row: FacetRow) -> Slot:
    """Return the slot of a stored facet."""
    return Slot(subject=row.subject, attribute=row.attribute, object=row.object, context=row.context)


def as_reading(row: FacetRow) -> Reading:
    """Return a stored facet as the statement it rests on."""
    return Reading(
        slot=as_slot(row), value=row.compared, text=row.value, negative=row.negative, kind=StatementKind(row.kind)
    )


def _create(c: Connection, ended: FacetRow | None, reading: Reading, said: Said) -> str:
    slot = reading.slot
    if ended is not None and ended.ended_at is not None:
        facets.retire_value(c, ended, until=ended.ended_at)
    row = FacetRow(
        id=ended.id if ended else facets.make_id(),
        subject=slot.subject,
        attribute=slot.attribute,
        object=slot.object,
        context=slot.context,
        kind=str(reading.kind),
        facet_class=str(classify(reading)),
        value=reading.text,
        compared=reading.value,
        negative=reading.negative,
        confidence=said.confidence,
        origin=str(said.origin),
        pinned=False,
        since=said.at,
        last_at=said.at,
        ended_at=None,
    )
    facets.put(c, row)
    _support(c, row.id, said)
    _log(c, "add", row.id, None, reading.text, said)
    return row.id


def _merge(c: Connection, row: FacetRow, reading: Reading, said: Said) -> tuple[Outcome, str]:
    relation = relate(as_reading(row), reading)
    segment = facets.find_segment(c, said.turn) if said.turn is not None else "by hand"
    claim = Claim(value=reading.text, confidence=said.confidence, segment=segment, origin=said.origin)
    if relation is Relation.SUPERSEDES and said.at < row.since and outranks(_as_facet(row), claim):
        return _add_past(c, row, reading, said), row.id
    outcome, merged = merge(_as_facet(row), claim, relation)
    if outcome is Outcome.CONTRADICTION:
        _contradict(c, row, reading, said)
        return outcome, row.id
    if outcome is Outcome.SUPERSEDED:
        facets.retire_value(c, row, until=said.at)
        facets.clear_contradictions(c, row.id)
        changed = replace(
            row,
            context=reading.slot.context or row.context,
            value=merged.value,
            compared=reading.value,
            negative=reading.negative,
            facet_class=str(classify(reading)),
            since=said.at,
        )
    else:
        changed = row if merged.value == row.value else replace(row, value=merged.value, compared=reading.value)
    changed = replace(
        changed,
        confidence=merged.confidence,
        origin=str(merged.origin),
        last_at=said.at if outcome is Outcome.SUPERSEDED else max(row.last_at, said.at),
    )
    facets.put(c, changed)
    _support(c, row.id, said)
    if outcome is not Outcome.UNCHANGED:
        _log(c, "update", row.id, row.value, changed.value, said)
    return outcome, row.id


def _add_past(c: Connection, row: FacetRow, reading: Reading, said: Said) -> Outcome:
    """Put what held before the present value into its history: an older transcript is read after a newer one."""
    known = next((f for f in row.history if (f.compared, f.negative) == (reading.value, reading.negative)), None)
    if known is not None and known.since <= said.at <= known.until:
        number = known.id
    else:
        number = facets.add_former(
            c,
            row.id,
            FormerRow(
                id=0,
                value=reading.text,
                compared=reading.value,
                negative=reading.negative,
                confidence=said.confidence,
                origin=str(said.origin),
                since=said.at,
                until=row.since,
            ),
        )
    if said.turn is not None:
        facets.add_evidence(c, row.id, said.turn, at=said.at, former=number)
    return Outcome.UNCHANGED


def _contradict(c: Connection, row: FacetRow, reading: Reading, said: Said) -> None:
    """Note a statement that did not win; where it was said is read with it, from the turn."""
    if said.turn is None:
        return
    facets.add_contradiction(
        c,
        row.id,
        ContradictionRow(
            id=0,
            value=reading.text,
            compared=reading.value,
            negative=reading.negative,
            confidence=said.confidence,
            origin=str(said.origin),
            turn=said.turn,
            session_id=SessionId(""),
            segment_id="",
            at=said.at,
        ),
    )


def _retract(c: Connection, row: FacetRow | None, reading: Reading, said: Said) -> tuple[Outcome | None, str]:
    """End a value that the user says holds no longer; it starts nothing."""
    if row is None or row.ended_at is not None or row.compared != reading.value or said.at < row.since:
        return None, ""
    claim = Claim(value=reading.text, confidence=said.confidence, segment="", origin=said.origin)
    if not outranks(_as_facet(row), claim):
        _contradict(c, row, reading, said)
        return Outcome.CONTRADICTION, row.id
    facets.put(c, replace(row, ended_at=said.at, last_at=said.at))
    _support(c, row.id, said)
    _log(c, "retire", row.id, row.value, None, said)
    return Outcome.SUPERSEDED, row.id


def _as_facet(row: FacetRow) -> Facet:
    return Facet(
        value=row.value,
        confidence=row.confidence,
        evidence=len(row.segments),
        segments=row.segments,
        origin=FacetOrigin(row.origin),
        history=tuple(
            Former(value=each.value, confidence=each.confidence, origin=FacetOrigin(each.origin))
            for each in row.history
        ),
        contradictions=tuple(Contradiction(value=each.value, segment=each.segment_id) for each in row.contradictions),
    )


def _support(c: Connection, facet_id: str, said: Said) -> None:
    if said.turn is not None:
        facets.add_evidence(c, facet_id, said.turn, at=said.at)


def _log(c: Connection, op: str, facet_id: str, before: str | None, after: str | None, said: Said) -> None:
    events.log_change(c, op=op, kind="facet", item_id=facet_id, before=before, after=after, turn=said.turn, at=said.at)
