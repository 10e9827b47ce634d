"""Files & Context: every file and address that was there stays findable.

Pure. A rewrite that names all of them is accepted; one that loses some only adds its new lines.
"""

from collections.abc import Sequence

from core.model import ParkedLine
from core.text.normal_form import fresh_items
from core.text.paths import find_missing, find_paths
from core.working_memory.bodies import add_items, item_texts, read_body
from core.working_memory.decisions import count, lines_were
from core.working_memory.guards.outcome import Context, NewText, Outcome, appended, is_constraint, left_out
from core.working_memory.operations import Append, Update
from core.working_memory.parked import ParkReason, park


def guard_files(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Accept a rewrite that loses no reference; else keep the old text and add new references."""
    if isinstance(operation, Append):
        fresh = fresh_items(operation.items, old)
        outcome = appended(old, fresh, parked)
        skipped = left_out(operation.items, fresh)
        return Outcome(operation=outcome.operation, body=outcome.body, parked=parked, skipped=skipped)
    missing = find_missing(find_paths(old), operation.content)
    if missing:
        return _rescue(operation.content, old, parked, missing)
    new_text = NewText(item_texts(operation.content), old)
    carried = [
        item.alone
        for item in read_body(old)
        if not find_paths(item.text) and is_constraint(item.text) and not new_text.says(item.text)
    ]
    body = add_items(operation.content, carried)
    reason = f"{lines_were(len(carried)).capitalize()} missing from the new text and kept below it."
    return Outcome(
        operation=Update(body),
        body=body,
        parked=parked,
        reason=reason if carried else "",
        carried=tuple(carried),
    )


def _rescue(content: str, old: str, parked: tuple[ParkedLine, ...], missing: Sequence[str]) -> Outcome:
    """Keep the old text; lines that hold a reference are added, others wait."""
    asked = item_texts(content)
    fresh = fresh_items(asked, old, rejected=True)
    added = [item for item in fresh if find_paths(item)]
    waiting = [item for item in fresh if not find_paths(item)]
    outcome = appended(old, added, park(parked, waiting, ParkReason.NO_REFERENCE))
    return Outcome(
        operation=outcome.operation,
        body=outcome.body,
        parked=outcome.parked,
        reason=f"The update left out {count(len(missing), 'file or address')}, so the old list stays."
        if len(missing) == 1
        else f"The update left out {len(missing)} files or addresses, so the old list stays.",
        newly_parked=tuple(waiting),
        skipped=left_out(asked, fresh),
    )
