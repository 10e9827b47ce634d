"""Errors & Corrections: a ledger; nothing in it is replaced or shortened by an update.

Pure.
"""

from core.model import ParkedLine
from core.text.normal_form import fresh_items
from core.working_memory.bodies import item_texts
from core.working_memory.guards.outcome import Context, Outcome, appended, left_out
from core.working_memory.operations import Append, Update


def guard_errors(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Add what is new, whatever the update asked."""
    rewrites = isinstance(operation, Update)
    asked = item_texts(operation.content) if isinstance(operation, Update) else operation.items
    fresh = fresh_items(asked, old, rejected=rewrites)
    outcome = appended(old, fresh, parked)
    reason = "This list is only added to, so the old entries stay." if rewrites else ""
    return Outcome(
        operation=outcome.operation,
        body=outcome.body,
        parked=parked,
        reason=reason,
        skipped=left_out(asked, fresh),
    )
