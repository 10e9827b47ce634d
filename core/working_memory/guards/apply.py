"""One section, from what was asked to the body that results: locks, guard, ceiling, parked list.

Pure and total: any operation on any body gives an outcome.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.model import ParkedLine, Section
from core.text.items import BodyItem
from core.text.keys import is_duplicate, is_resolved, item_key
from core.working_memory.bodies import (
    add_items,
    count_items,
    insert_item,
    item_texts,
    read_body,
    replace_item,
    safe_body,
)
from core.working_memory.decisions import lines_were
from core.working_memory.growth import CEILED, hold_ceiling
from core.working_memory.guards.errors import guard_errors
from core.working_memory.guards.facts import guard_facts, keep_facts
from core.working_memory.guards.files import guard_files
from core.working_memory.guards.goals import guard_goals
from core.working_memory.guards.issues import guard_issues
from core.working_memory.guards.outcome import NO_CONTEXT, Context, Guard, Outcome, is_constraint, kept, updated
from core.working_memory.guards.state import guard_state
from core.working_memory.guards.title import guard_title
from core.working_memory.locks import hold_proposals
from core.working_memory.operations import KEEP, Keep, Reading, Update
from core.working_memory.parked import ParkReason, park, release

_GUARDS: dict[Section, Guard] = {
    Section.TITLE: guard_title,
    Section.STATE: guard_state,
    Section.GOALS: guard_goals,
    Section.FACTS: guard_facts,
    Section.FILES: guard_files,
    Section.ERRORS: guard_errors,
    Section.ISSUES: guard_issues,
}


def apply_guard(
    section: Section,
    reading: Reading,
    old: str,
    parked: Sequence[ParkedLine] = (),
    context: Context = NO_CONTEXT,
) -> Outcome:
    """Return what becomes of a section; text that could not be applied is parked."""
    waiting = tuple(parked)
    operation, wanted = reading.operation, tuple[str, ...]()
    if section not in (Section.TITLE, Section.ERRORS):  # a title's guard keeps it; a ledger's entries replace nothing
        operation, wanted = hold_proposals(operation, item_texts(old), context.locked)
    outcome = _guard(section, replace(reading, operation=operation), old, waiting, context)
    if outcome.body != old:
        outcome = replace(outcome, body=safe_body(outcome.body))
        outcome = _hold_ceiling(section, outcome, context)
    if isinstance(outcome.operation, Update):
        outcome = replace(outcome, operation=Update(outcome.body))
    elif outcome.body == old:
        outcome = replace(outcome, operation=KEEP)  # what was added left again over the ceiling
    unapplied = [text for text in (*wanted, *reading.unapplied) if text.strip()]
    released = release(park(outcome.parked, unapplied, ParkReason.NOT_APPLIED), outcome.body)
    late = [*outcome.newly_parked, *unapplied]
    still = {line.text for line in released} - {line.text for line in waiting} if late else set[str]()
    late = [text for text in late if text in still]
    return replace(
        outcome,
        parked=released,
        newly_parked=tuple(dict.fromkeys(late)),
        skipped=(*reading.skipped, *outcome.skipped),
        reason=outcome.reason or _explain_unapplied([text for text in unapplied if text in still], wanted),
    )


def _guard(section: Section, reading: Reading, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    operation = reading.operation
    if isinstance(operation, Keep):
        return keep_facts(old, parked) if section is Section.FACTS else kept(old, parked)
    if isinstance(operation, Update):
        operation = _respect_locks(operation, old, context)
        if not count_items(old) and section not in (Section.TITLE, Section.FACTS):
            return updated(operation.content, parked)
    return _GUARDS[section](operation, old, parked, context)


def _respect_locks(operation: Update, old: str, context: Context) -> Update:
    """Put every locked line back into the new content, word for word and at its place."""
    if not context.locked:
        return operation
    content, previous = operation.content, ""
    for item in read_body(old):
        if context.is_locked(item.text):
            content = _insert(content, item.text, previous)
        previous = item.text
    return Update(content)


def _insert(content: str, locked: str, previous: str) -> str:
    """`content` with a locked line: in place of its variant, after its old neighbour, or first."""
    items = read_body(content)
    if any(item.text == locked for item in items):
        return content
    for item in items:
        if item_key(item.text) == item_key(locked) or is_duplicate(item.text, locked):
            return replace_item(content, item, locked)
    above = next((item for item in items if previous and is_duplicate(item.text, previous)), None)
    inserted = insert_item(content, above, locked)
    if locked in item_texts(safe_body(inserted)):
        return inserted
    return add_items(content, [locked])  # a block of code below would have become part of the line


def _hold_ceiling(section: Section, outcome: Outcome, context: Context) -> Outcome:
    """Bring a list under 50 items and 3000 tokens; what leaves it is parked, closed issues are not."""
    if section not in CEILED:
        return outcome
    items = [item for item in read_body(outcome.body) if not context.is_locked(item.text)]
    cut = hold_ceiling(outcome.body, _leaving_order(section, items))
    if not cut.removed:
        return outcome
    gone = [text for text in cut.removed if not (section is Section.ISSUES and is_resolved(text))]
    verb = "waits" if len(gone) == 1 else "wait"
    reason = f"The list is full: {lines_were(len(gone))} too many and {verb} in the parked list."
    return replace(
        outcome,
        body=cut.body,
        parked=park(outcome.parked, gone, ParkReason.CEILING),
        newly_parked=(*outcome.newly_parked, *gone),
        reason=outcome.reason or (reason if gone else ""),
    )


def _leaving_order(section: Section, items: Sequence[BodyItem]) -> list[BodyItem]:
    """Items in the order in which they leave a full list: oldest first, after what matters less."""
    if section is Section.ISSUES:
        return sorted(items, key=lambda item: not is_resolved(item.text))
    if section is Section.GOALS:
        return sorted(items, key=lambda item: is_constraint(item.text))
    return list(items)


def _explain_unapplied(texts: Sequence[str], wanted: Sequence[str]) -> str:
    if not texts:
        return ""
    if wanted:
        return "You locked the line that the update wanted to change, so it stays; you decide about the new one."
    return "The update had an unknown form; its text waits in the parked list."
