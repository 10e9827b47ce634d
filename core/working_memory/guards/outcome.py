"""What a guard is given and what it answers.

Pure. A guard takes an operation, the section's old body, what waits for the section and a
context; it answers with the operation to apply, the body after it, and what it did in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.model import ParkedLine
from core.text.anchors import Statements, find_anchors, polarity
from core.text.keys import KeyIndex, item_key
from core.working_memory.bodies import add_items
from core.working_memory.operations import KEEP, Append, Operation, Update


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What else a guard may look at."""

    locked: tuple[str, ...] = ()  # texts of the section's locked lines
    user_turns: tuple[str, ...] = ()  # the user's own words in the archived turns

    def is_locked(self, item: str) -> bool:
        """Say whether an item is one of the locked lines."""
        return bool(self.locked) and item_key(item) in {item_key(text) for text in self.locked}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What becomes of one section."""

    operation: Operation = KEEP
    body: str
    parked: tuple[ParkedLine, ...]
    reason: str = ""  # one sentence for the user; "" when there is nothing to say
    restored: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    newly_parked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class Guard(Protocol):
    """The shape of every guard; a KEEP never reaches one."""

    def __call__(
        self, operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context, /
    ) -> Outcome: ...


NO_CONTEXT = Context()


class NewText:
    """The items of a new text, asked again and again whether they still say an old one."""

    def __init__(self, items: Sequence[str], old_body: str) -> None:
        self._statements = Statements(items)
        self._index = KeyIndex(items)
        self._old_body = old_body

    def says(self, item: str) -> bool:
        """Say whether an old item is covered; the cheap comparison goes first."""
        return self._index.holds(item) or self._statements.say(item, self._old_body)


def kept(old: str, parked: tuple[ParkedLine, ...], reason: str = "", skipped: Sequence[str] = ()) -> Outcome:
    """Answer that the section stays as it is."""
    return Outcome(body=old, parked=parked, reason=reason, skipped=tuple(skipped))


def updated(body: str, parked: tuple[ParkedLine, ...]) -> Outcome:
    """Answer that `body` replaces the section."""
    return Outcome(operation=Update(body), body=body, parked=parked)


def appended(old: str, items: Sequence[str], parked: tuple[ParkedLine, ...]) -> Outcome:
    """Answer that items go under the section; none means that it stays."""
    if not items:
        return kept(old, parked)
    return Outcome(operation=Append(tuple(items)), body=add_items(old, items), parked=parked)


def left_out(asked: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Return the asked items that were not taken."""
    chosen = set(taken)
    return tuple(item for item in asked if item not in chosen)


def is_constraint(item: str) -> bool:
    """Say whether an item holds a hard anchor or an obligation."""
    return polarity(item).obligation or bool(find_anchors(item).hard)
