"""The parked list: lines that wait outside the document until they enter it or the user decides.

Pure. Nothing in it is ever discarded by code: an entry leaves only by entering the document, by
being found there already, or by the user's hand.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from core.model import ParkedLine
from core.text.keys import KeyIndex, item_key
from core.text.normal_form import fresh_items


class ParkReason(StrEnum):
    """Why a line waits, in words. The values are stored: never rename one."""

    CAP = "It waits its turn: a section this long takes five new facts at an update."
    STOP = "It waits because the section is full."
    CEILING = "The list is full, so its oldest lines wait here."
    DROPPED_TWICE = "Two updates in a row left it out. You decide whether it may go."
    NO_REFERENCE = "It names no file or address."
    NOT_APPLIED = "An update brought it, but it could not be applied."
    SUPERSEDED = "You corrected it; this is the line as it was."


_RETURNING = {ParkReason.CAP, ParkReason.STOP, ParkReason.CEILING}


def returns_by_itself(line: ParkedLine) -> bool:
    """Say whether a parked fact may flow back without the user; unknown reasons may."""
    return line.reason in _RETURNING or line.reason not in set(ParkReason)


def park(parked: Sequence[ParkedLine], texts: Iterable[str], reason: ParkReason) -> tuple[ParkedLine, ...]:
    """Return the list with `texts` at its end; what waits already is not put in twice."""
    coming = [text for text in texts if text.strip()]
    if not coming:
        return tuple(parked)
    result = list(parked)
    known = KeyIndex(line.text for line in result)
    for text in coming:
        if not known.holds(text):
            result.append(ParkedLine(text=text, reason=reason))
            known.add(text)
    return tuple(result)


def release(parked: Sequence[ParkedLine], body: str) -> tuple[ParkedLine, ...]:
    """Return the list without the entries that `body` says."""
    if not parked or not body:
        return tuple(parked)
    unsaid = set(fresh_items([line.text for line in parked], body))
    return tuple(line for line in parked if line.text in unsaid or not item_key(line.text))
