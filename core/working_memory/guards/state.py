"""Current State: the new state stands; a sudden shrink carries dates and duties over once.

Pure.
"""

from core.model import ParkedLine
from core.text.normal_form import fresh_items
from core.text.sentences import split_sentences
from core.text.tokens import estimate_tokens
from core.working_memory.bodies import add_items, item_texts
from core.working_memory.decisions import lines_were
from core.working_memory.guards.outcome import Context, NewText, Outcome, appended, is_constraint, left_out, updated
from core.working_memory.marks import CARRIED, add_tag, has_tag, strip_tag
from core.working_memory.operations import Append, Update
from core.working_memory.parked import ParkReason, park

SHRINK_FROM_TOKENS = 40  # of the old body
SHRINK_BELOW_PERCENT = 30  # of the old body's cost


def guard_state(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Accept the new state; what it may not drop in silence is carried over once, then parked."""
    if isinstance(operation, Append):
        fresh = fresh_items(operation.items, old)
        outcome = appended(old, fresh, parked)
        return Outcome(
            operation=outcome.operation,
            body=outcome.body,
            parked=parked,
            skipped=left_out(operation.items, fresh),
        )
    return _replace(operation.content, old, parked)


def _replace(content: str, old: str, parked: tuple[ParkedLine, ...]) -> Outcome:
    new_text = NewText(item_texts(content), old)
    shrinks = _shrinks(old, content)
    carried: list[str] = []
    dropped: list[str] = []
    for item in item_texts(old):
        again = has_tag(item, CARRIED)
        if not again and not shrinks:
            continue
        text = strip_tag(item, CARRIED)
        for sentence in [text] if again else split_sentences(text):
            if is_constraint(sentence) and not new_text.says(sentence):
                (dropped if again else carried).append(sentence)
    body = add_items(content, [add_tag(text, CARRIED) for text in carried])
    outcome = updated(body, park(parked, dropped, ParkReason.DROPPED_TWICE))
    return Outcome(
        operation=outcome.operation,
        body=body,
        parked=outcome.parked,
        reason=_explain(len(carried), len(dropped)),
        carried=tuple(carried),
        newly_parked=tuple(dropped),
    )


def _shrinks(old: str, new: str) -> bool:
    before = estimate_tokens(old)
    return before >= SHRINK_FROM_TOKENS and estimate_tokens(new) * 100 < before * SHRINK_BELOW_PERCENT


def _explain(carried: int, dropped: int) -> str:
    if carried:
        return f"The new state is much shorter; {lines_were(carried)} kept because of a date, number or duty."
    if dropped:
        return f"{lines_were(dropped).capitalize()} left out a second time and now wait in the parked list."
    return ""
