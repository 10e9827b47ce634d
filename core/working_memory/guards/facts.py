"""Key Facts & Decisions: consolidation may shorten, it may not lose.

Pure. An update is rejected when it keeps too few items or too few names, numbers and dates of
the old ones; what an accepted one still leaves out is carried over line by line. New facts enter
by the rules of core.working_memory.growth.

The two limits, 15 % of the items and 70 % of the anchors, are those of the behaviour this
section is modelled on; exactly at a limit passes.
"""

from collections.abc import Sequence

from core.model import ParkedLine
from core.text.anchors import coverage
from core.text.normal_form import fresh_items
from core.working_memory.bodies import add_items, has_sentinel, item_texts, read_body, strip_sentinel
from core.working_memory.decisions import count, lines_were
from core.working_memory.growth import SENTINEL, Zone, measure, take_in
from core.working_memory.guards.corrections import is_corrected
from core.working_memory.guards.outcome import Context, NewText, Outcome, kept, left_out
from core.working_memory.operations import KEEP, Append, Operation, Update
from core.working_memory.parked import ParkReason, park

LEAST_ITEMS_PERCENT = 15  # of the old items
LEAST_COVERAGE = 0.70  # of the old anchors


def guard_facts(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Accept a consolidation that keeps enough; anything else adds what is new."""
    if isinstance(operation, Append):
        fresh = fresh_items(operation.items, old)
        return add_facts(old, parked, fresh, skipped=left_out(operation.items, fresh))
    content = strip_sentinel(operation.content)
    old_items, new_items = item_texts(old), item_texts(content)
    problem = _find_problem(strip_sentinel(old), content, len(old_items), len(new_items))
    if problem and context.user_turns:
        # what the user corrected does not count as lost
        standing = [item for item in old_items if not is_corrected(item, new_items, context.user_turns)]
        problem = _find_problem(add_items("", standing), content, len(standing), len(new_items))
    if problem:
        fresh = fresh_items(new_items, old, rejected=True)
        skipped = left_out(new_items, fresh)
        return add_facts(old, parked, fresh, reason=problem, skipped=skipped)
    return _consolidate(content, old, parked, context)


def _find_problem(old: str, new: str, old_count: int, new_count: int) -> str:
    """Why a consolidation is refused, "" when it is not."""
    if not old_count:
        return ""
    if new_count * 100 < old_count * LEAST_ITEMS_PERCENT:
        return (
            f"The update wanted to replace {count(old_count, 'fact')} by {new_count}, "
            "so the facts stay and only what is new was added."
        )
    share = coverage(old, new)
    if share is not None and share < LEAST_COVERAGE:
        return (
            f"The update kept only {int(share * 100)} % of the names, numbers and dates, "
            "so the facts stay and only what is new was added."
        )
    return ""


def _consolidate(content: str, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Replace the section, with every old fact that the new lines no longer say below them."""
    new_items = item_texts(content)
    new_text = NewText(new_items, old)
    carried: list[str] = []
    corrected: list[str] = []
    for item in read_body(old):
        if not new_text.says(item.text):
            superseded = is_corrected(item.text, new_items, context.user_turns)
            (corrected if superseded else carried).append(item.alone)
    body = add_items(content, carried)
    whole = NewText(item_texts(body), old)
    waiting = tuple(line for line in parked if not whole.says(line.text))
    intake = take_in(body, park(waiting, corrected, ParkReason.SUPERSEDED), ())
    body = add_items(body, intake.entering)
    if measure(body).zone is Zone.STOPPED and intake.zone is Zone.STOPPED and intake.parked:
        body = add_items(body, [SENTINEL])
    return Outcome(
        operation=Update(body),
        body=body,
        parked=intake.parked,
        reason=_explain_carried(len(carried)),
        carried=tuple(carried),
        newly_parked=tuple(corrected),
    )


def add_facts(
    old: str,
    parked: tuple[ParkedLine, ...],
    fresh: Sequence[str],
    *,
    reason: str = "",
    skipped: Sequence[str] = (),
) -> Outcome:
    """Let facts in as the section's zone allows; in the stop only the sentinel enters, once."""
    intake = take_in(old, parked, fresh)
    operation: Operation = KEEP
    body = old
    if intake.zone is Zone.STOPPED:
        candidates = bool(fresh or parked)
        if candidates and not has_sentinel(old):
            operation, body = Append((SENTINEL,)), add_items(old, [SENTINEL])
    elif intake.entering:
        operation = Append(intake.entering)
        body = add_items(strip_sentinel(old), intake.entering)
    return Outcome(
        operation=operation,
        body=body,
        parked=intake.parked,
        reason=reason or _explain_waiting(intake.zone, len(intake.waiting)),
        newly_parked=intake.waiting,
        skipped=tuple(skipped),
    )


def keep_facts(old: str, parked: tuple[ParkedLine, ...]) -> Outcome:
    """Answer a KEEP: facts that wait flow in while the section is below the stop line."""
    if not parked or measure(old).zone is Zone.STOPPED:
        return kept(old, parked)
    return add_facts(old, parked, ())


def _explain_carried(carried: int) -> str:
    if not carried:
        return ""
    return f"{lines_were(carried).capitalize()} missing from the new text and kept below it."


def _explain_waiting(zone: Zone, waiting: int) -> str:
    if not waiting:
        return ""
    why = "the section is full" if zone is Zone.STOPPED else "the section is long"
    return f"{count(waiting, 'new fact')} {'waits' if waiting == 1 else 'wait'} because {why}."
