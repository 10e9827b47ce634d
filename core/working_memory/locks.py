"""Lines that the user locked: what an update would put in their place is held back as a proposal.

Pure. The line itself stays word for word where it is (core.working_memory.guards.apply); a new line that
says it in other words, or with another value, would stand beside it and contradict it. Such a line waits
in the parked list, where the user takes or dismisses it.
"""

from collections.abc import Iterable, Sequence

from core.model import ParkedLine, Section
from core.text.items import BodyItem
from core.text.keys import is_duplicate, item_key, read_key
from core.working_memory.bodies import read_body, remove_items
from core.working_memory.guards.corrections import differs_in_one_value
from core.working_memory.operations import KEEP, Append, Operation, Update
from core.working_memory.parked import ParkReason

LEAST_SHARED = 0.6  # of the words of two lines that speak of the same thing; chosen on the tests' examples
LEAST_WORDS = 2  # shared; one word is no topic


def would_replace(locked: str, proposed: str) -> bool:
    """Say whether a line is another wording of a locked one, or the same with another value."""
    if item_key(locked) == item_key(proposed) or is_duplicate(proposed, locked):
        return False
    if differs_in_one_value(locked, proposed):
        return True
    old, new = set(read_key(locked).words), set(read_key(proposed).words)
    shared = len(old & new)
    return shared >= LEAST_WORDS and shared >= LEAST_SHARED * len(old | new)


def hold_proposals(
    operation: Operation, old_items: Sequence[str], locked: Sequence[str]
) -> tuple[Operation, tuple[str, ...]]:
    """Return the operation without what would replace a locked line, and those texts.

    What the section says already is no proposal. A locked line that is one of a series (`room 4`, `room 5`) has
    no proposals either: a new member of the series does not replace it.
    """
    if not locked or not isinstance(operation, Update | Append):
        return operation, ()
    known = {item_key(text) for text in old_items}
    single = [line for line in locked if not any(would_replace(line, other) for other in old_items)]

    def is_held(text: str) -> bool:
        return item_key(text) not in known and any(would_replace(line, text) for line in single)

    if isinstance(operation, Append):
        held = tuple(text for text in operation.items if is_held(text))
        rest = tuple(text for text in operation.items if text not in held)
        return (Append(rest) if rest else KEEP) if held else operation, held
    items: list[BodyItem] = [item for item in read_body(operation.content) if is_held(item.text)]
    if not items:
        return operation, ()
    content = remove_items(operation.content, items)
    return Update(content) if read_body(content) else KEEP, tuple(item.alone for item in items)


def find_wanted(section: Section, locked: Iterable[str], parked: Iterable[ParkedLine]) -> dict[str, list[ParkedLine]]:
    """Return for each locked line what waits to take its place; a title is one line, so all titles do."""
    wanted: dict[str, list[ParkedLine]] = {}
    lines = list(locked)
    for waiting in (line for line in parked if line.reason == ParkReason.NOT_APPLIED):
        for line in lines:
            if section is Section.TITLE or would_replace(line, waiting.text):
                wanted.setdefault(line, []).append(waiting)
                break
    return wanted
