"""Task & Goals: the new wording stands, but goals with a date, number, name or duty last.

Pure. Such a goal stays, tagged `[carried]`, until it is marked done, said anew, corrected in the
user's own words, or removed by the user.
"""

from core.model import ParkedLine
from core.text.keys import is_resolved
from core.text.normal_form import fresh_items
from core.working_memory.bodies import add_items, item_texts, read_body
from core.working_memory.decisions import count
from core.working_memory.guards.corrections import is_corrected
from core.working_memory.guards.outcome import Context, NewText, Outcome, appended, is_constraint, left_out, updated
from core.working_memory.marks import CARRIED, add_tag, strip_tag
from core.working_memory.operations import Append, Update
from core.working_memory.parked import ParkReason, park


def guard_goals(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Accept the update and carry over every uncovered constraint."""
    if isinstance(operation, Append):
        fresh = fresh_items(operation.items, old)
        outcome = appended(old, fresh, parked)
        skipped = left_out(operation.items, fresh)
        return Outcome(operation=outcome.operation, body=outcome.body, parked=parked, skipped=skipped)
    new_items = item_texts(operation.content)
    new_text = NewText(new_items, old)
    carried: list[str] = []
    corrected: list[str] = []
    for item in read_body(old):
        text = strip_tag(item.alone, CARRIED)
        if is_resolved(item.text) or not is_constraint(text) or new_text.says(text):
            continue
        (corrected if is_corrected(text, new_items, context.user_turns) else carried).append(text)
    body = add_items(operation.content, [add_tag(text, CARRIED) for text in carried])
    outcome = updated(body, park(parked, corrected, ParkReason.SUPERSEDED))
    return Outcome(
        operation=outcome.operation,
        body=body,
        parked=outcome.parked,
        reason=_explain(len(carried)),
        carried=tuple(carried),
        newly_parked=tuple(corrected),
    )


def _explain(carried: int) -> str:
    if not carried:
        return ""
    them = "it was" if carried == 1 else "they were"
    return (
        f"The update left out {count(carried, 'goal')} with a date, number, name or duty "
        f"without saying that it was done, so {them} kept."
    )
