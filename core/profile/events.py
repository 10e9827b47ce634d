"""What a user stated in a segment: decisions, commitments, preferences and facts, each once with all its turns.

Pure. Only the user's own redacted messages go in. The same statement made twice in a segment is one event; in
another segment it is new evidence (archivist.md section 7).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.text.keys import normalise
from core.text.statements import StatementKind, find_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """A user's message; `at` in the time zone it was written in, None where that is not known."""

    turn: int
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One statement of the user's with its evidence."""

    kind: StatementKind
    text: str
    negative: bool
    confidence: float
    subject: str
    due: str | None
    rule: str
    turns: tuple[int, ...]

    @property
    def key(self) -> tuple[StatementKind, str]:
        """What makes two events the same."""
        return (self.kind, event_key(self.text))


def event_key(text: str) -> str:
    """Return the form in which texts of events are compared."""
    return normalise(text)


def find_events(texts: Sequence[UserText]) -> tuple[Event, ...]:
    """Return the events of one segment's messages in order, repeats joined."""
    found: dict[tuple[StatementKind, str], Event] = {}
    for said in texts:
        for each in find_statements(said.text, at=said.at):
            event = Event(
                kind=each.kind,
                text=each.text,
                negative=each.negative,
                confidence=each.confidence,
                subject=each.subject,
                due=each.due,
                rule=each.rule,
                turns=(said.turn,),
            )
            first = found.get(event.key)
            found[event.key] = event if first is None else _join(first, event)
    return tuple(found.values())


def _join(first: Event, again: Event) -> Event:
    return replace(
        first,
        turns=tuple(dict.fromkeys((*first.turns, *again.turns))),
        confidence=max(first.confidence, again.confidence),
        due=again.due or first.due,
    )
