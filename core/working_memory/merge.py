"""Merging an update into the document: read, guard, hold the ceilings, say what was done.

Pure and total: no JSON value as operations raises, and nothing that was protected or asked for
disappears without being in the document, in the parked list, or named in a decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.model import Decision, ParkedLine, Section
from core.redaction import redact
from core.text.items import BodyItem
from core.text.tokens import estimate_tokens
from core.working_memory.bodies import read_body, remove_items
from core.working_memory.document import (
    HEADING,
    Document,
    Extra,
    make_safe,
    parse_document,
    render_document,
    settle,
)
from core.working_memory.growth import DOCUMENT_TOKENS
from core.working_memory.guards.apply import apply_guard
from core.working_memory.guards.outcome import Context, Outcome
from core.working_memory.operations import Append, Reading, Readings, Update, read_operations
from core.working_memory.parked import ParkReason, park, release
from core.working_memory.parked_index import index_parked

EARLIER_NOTES = "Earlier Notes"  # where a text without any header goes

Parked = Mapping[Section, tuple[ParkedLine, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """A merged document, what waits beside it, and one decision a section, in order."""

    text: str
    document: Document
    parked: dict[Section, tuple[ParkedLine, ...]]
    decisions: tuple[Decision, ...]
    over_ceiling: bool = False  # locked and user-written text alone exceeds the document's ceiling


def merge(
    old_text: str,
    operations: object,
    parked: Parked | None = None,
    *,
    locked: Mapping[Section, tuple[str, ...]] | None = None,
    user_turns: Sequence[str] = (),
) -> MergeResult:
    """Apply `operations`, any JSON value, to the document `old_text`.

    `locked` holds the texts of locked lines, `user_turns` the user's own words in the turns that
    the operations come from: only with them can a goal or fact be corrected.
    """
    readings = _redact_readings(read_operations(operations))
    document = _redact_document(read_stored(old_text))
    waiting = {section: _redact_parked((parked or {}).get(section, ())) for section in Section}
    waiting[Section.FACTS] = park(waiting[Section.FACTS], readings.stray, ParkReason.NOT_APPLIED)
    outcomes: dict[Section, Outcome] = {}
    for section in Section:
        context = Context(locked=tuple((locked or {}).get(section, ())), user_turns=tuple(user_turns))
        reading = readings.by_section.get(section, Reading())
        outcomes[section] = apply_guard(section, reading, document.bodies[section], waiting[section], context)
    merged = document.with_bodies({section: outcome.body for section, outcome in outcomes.items()})
    merged = settle(merged)
    merged, removed = _hold_document(merged, locked or {})
    decisions = tuple(
        _decide(section, readings.by_section.get(section, Reading()), outcomes[section], removed[section])
        for section in Section
    )
    return MergeResult(
        text=render_document(merged),
        document=merged,
        parked={s: _settle_parked(outcomes[s], removed[s], merged.bodies[s]) for s in Section},
        decisions=decisions,
        over_ceiling=estimate_tokens(render_document(merged)) > DOCUMENT_TOKENS,
    )


def read_stored(text: str) -> Document:
    """Read a stored document; a text without any header becomes a section of its own."""
    document = parse_document(text)
    if document.extra or any(document.bodies.values()) or "##" in text or not document.preamble:
        return document
    notes = make_safe(text.strip().removeprefix(HEADING))
    return Document(extra=(Extra(EARLIER_NOTES, notes),))


def _settle_parked(outcome: Outcome, removed: Sequence[str], body: str) -> tuple[ParkedLine, ...]:
    """What waits after the document's ceiling was held; the section's own release saw the same body as a rule."""
    if not removed and body == outcome.body:
        return outcome.parked
    return release(park(outcome.parked, removed, ParkReason.CEILING), body)


def _redact_document(document: Document) -> Document:
    """The stored document without secrets that leaked into it, part by part: most parts were seen before."""
    return replace(
        document,
        preamble=_redact_part(document.preamble),
        bodies={section: _redact_part(body) for section, body in document.bodies.items()},
        extra=tuple(Extra(_redact_part(extra.header), _redact_part(extra.body)) for extra in document.extra),
    )


@lru_cache(maxsize=64)
def _redact_part(text: str) -> str:
    """Redact one section's body; those that an update leaves alone come back at every merge."""
    return redact(text)


@lru_cache(maxsize=4096)
def _redact_line(text: str) -> str:
    """Redact one line; the same lines come back at every merge."""
    return redact(text)


def _redact_parked(parked: tuple[ParkedLine, ...]) -> tuple[ParkedLine, ...]:
    """The list without secrets: itself where it has none, so that what is known of it holds on."""
    leaking = {id(line) for line in index_parked(parked).find_failing(_is_clean)}
    if not leaking:
        return parked
    return tuple(replace(line, text=_redact_line(line.text)) if id(line) in leaking else line for line in parked)


def _is_clean(text: str) -> bool:
    return _redact_line(text) == text


def _redact_readings(readings: Readings) -> Readings:
    """The operations without secrets: everything a merge writes comes from its redacted inputs."""
    return Readings(
        by_section={section: _redact_reading(reading) for section, reading in readings.by_section.items()},
        stray=tuple(map(_redact_line, readings.stray)),
    )


def _redact_reading(reading: Reading) -> Reading:
    operation = reading.operation
    if isinstance(operation, Update):
        operation = Update(redact(operation.content))
    elif isinstance(operation, Append):
        operation = Append(tuple(map(_redact_line, operation.items)))
    return replace(
        reading,
        operation=operation,
        unapplied=tuple(map(_redact_line, reading.unapplied)),
        skipped=tuple(map(_redact_line, reading.skipped)),
    )


def _decide(section: Section, reading: Reading, outcome: Outcome, removed: Sequence[str]) -> Decision:
    reason = outcome.reason
    if removed and not reason:
        reason = "The whole document was too long, so the oldest lines of its longest section wait."
    return Decision(
        section=section,
        asked=reading.asked,
        applied=outcome.operation.name,
        reason=reason,
        restored=outcome.restored,
        carried=outcome.carried,
        parked=(*outcome.newly_parked, *removed),
        skipped=outcome.skipped,
    )


def _hold_document(
    document: Document, locked: Mapping[Section, tuple[str, ...]]
) -> tuple[Document, dict[Section, list[str]]]:
    """Take the oldest unlocked item of the largest section out until the document fits."""
    removed: dict[Section, list[str]] = {section: [] for section in Section}
    excess = estimate_tokens(render_document(document)) - DOCUMENT_TOKENS
    while excess > 0:
        leaving = _choose_leaving(document, locked, excess)
        if not leaving:
            break
        for section, items in leaving.items():
            removed[section] += [item.alone for item in items]
            body = remove_items(document.bodies[section], items)
            document = settle(document.with_bodies({section: body}))
        excess = estimate_tokens(render_document(document)) - DOCUMENT_TOKENS
    return document, removed


def _choose_leaving(
    document: Document, locked: Mapping[Section, tuple[str, ...]], excess: int
) -> dict[Section, list[BodyItem]]:
    """The items to take out for about `excess` tokens; never fewer than one where there are any."""
    sizes = {section: float(estimate_tokens(body)) for section, body in document.bodies.items()}
    queues = {
        section: [
            item
            for item in read_body(document.bodies[section])
            if not Context(locked=tuple(locked.get(section, ()))).is_locked(item.text)
        ][::-1]
        for section in Section
    }
    leaving: dict[Section, list[BodyItem]] = {}
    left = float(excess)
    while left > 0 and any(queues.values()):
        section = max((s for s in Section if queues[s]), key=lambda s: sizes[s])
        item = queues[section].pop()
        cost = estimate_tokens(item.text) + 0.75
        sizes[section] -= cost
        left -= cost
        leaving.setdefault(section, []).append(item)
    return leaving
