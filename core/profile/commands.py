""" "Remember …" and "forget …": what the user orders, done by code and said to them only when it is written.

Functions over one open transaction of the caller's. The text comes redacted; it works without any model.
"""

from dataclasses import dataclass

from core.model import FacetOrigin, SessionId, TurnId
from core.profile.forgetting import find_matches
from core.profile.keeping import Said, put_ordered
from core.profile.merging import Outcome
from core.profile.payloads import read_payload
from core.profile.slots import REDACTED
from core.storage import facets
from core.storage.database import Connection
from core.text.orders import COMMAND_CONFIDENCE, MemoryCommand, find_commands

SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Obeyed:
    """What came of an order: a sentence for the user, the facet it made, or those that it asks to forget."""

    note: str
    facet_id: str = ""
    asked: str = ""
    to_forget: tuple[str, ...] = ()


def read_commands(text: str) -> tuple[MemoryCommand, ...]:
    """Return the orders that a redacted message gives, mostly none."""
    return find_commands(text)


def obey(c: Connection, command: MemoryCommand, session_id: SessionId, turn: TurnId, *, at: float) -> Obeyed:
    """Do what the user orders; `at` in s. Forgetting is only prepared: it is confirmed by hand."""
    if command.command == "remember":
        return _remember(c, command.payload, session_id, turn, at)
    return _find(c, command.payload)


def _remember(c: Connection, payload: str, session_id: SessionId, turn: TurnId, at: float) -> Obeyed:
    shown = _shorten(payload)
    if REDACTED in payload:
        return Obeyed(note="Not remembered: this holds a password, key or number that Keepsake does not keep.")
    readings = read_payload(payload)
    said = Said(turn=turn, at=at, origin=FacetOrigin.EXPLICIT, confidence=COMMAND_CONFIDENCE)
    segment = facets.find_segment(c, turn)
    done = [put_ordered(c, reading, said, session_id, segment) for reading in readings]
    written = [(outcome, facet_id) for outcome, facet_id in done if outcome is not None and facet_id]
    if not written:
        return Obeyed(note=f"Not remembered: “{shown}” says nothing that Keepsake could keep.")
    outcome, facet_id = written[0]
    if outcome is Outcome.CONTRADICTION:
        return Obeyed(
            note=f"Noted beside what you set by hand: “{shown}”. The Profile tab asks which one holds.",
            facet_id=facet_id,
        )
    if outcome is Outcome.UNCHANGED or outcome is Outcome.REINFORCED:
        return Obeyed(note=f"Remembered already: “{shown}”.", facet_id=facet_id)
    return Obeyed(note=f"Remembered: “{shown}”. You can change or undo it in the Profile tab.", facet_id=facet_id)


def _find(c: Connection, payload: str) -> Obeyed:
    found = find_matches(facets.load_all(c), payload)
    if not found:
        return Obeyed(note=f"Nothing in your profile is about “{_shorten(payload)}”, so nothing was forgotten.")
    words = "; ".join(f"“{_shorten(row.value, 60)}”" for row in found[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return Obeyed(
        note=f"Would forget: {words}{more}. Nothing is removed until you confirm it in the Profile tab.",
        asked=payload,
        to_forget=tuple(row.id for row in found),
    )


def _shorten(text: str, limit: int = SHOWN_CHARS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
