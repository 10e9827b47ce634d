"""The parked list: lines that wait outside the document until they enter it or the user decides.

Pure. Nothing in it is ever discarded by code: an entry leaves only by entering the document, by
being found there already, or by the user's hand.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from core.model import ParkedLine
from core.text.items import extract_items
from core.text.keys import KeyIndex, item_key
from core.text.normal_form import fresh_items
from core.working_memory.parked_index import index_parked


class ParkReason(StrEnum):
    """Why a line waits, in words. The values are stored: never rename one."""

    CAP = "It waits its turn: a section this long takes five new facts at an update."
    STOP = "It waits because the section is full."
    CEILING = "The list is full, so its oldest lines wait here."
    DROPPED_TWICE = "Two updates in a row left it out. You decide whether it may go."
    NO_REFERENCE = "It names no file or address."
    NOT_APPLIED = "An update brought it, but it could not be applied."
    SUPERSEDED = "You corrected it; this is the line as it was."


_STAYING = frozenset(ParkReason) - {ParkReason.CAP, ParkReason.STOP, ParkReason.CEILING}


def returns_by_itself(line: ParkedLine) -> bool:
    """Say whether a parked fact may flow back without the user; unknown reasons may."""
    return line.reason not in _STAYING


def park(parked: Sequence[ParkedLine], texts: Iterable[str], reason: ParkReason) -> tuple[ParkedLine, ...]:
    """Return the list with `texts` at its end; what waits already is not put in twice."""
    coming = [text for text in texts if text.strip()]
    if not coming:
        return tuple(parked)
    waiting, known, new = index_parked(tuple(parked)), KeyIndex(), list[ParkedLine]()
    for text in coming:
        if not waiting.holds(text) and not known.holds(text):
            new.append(ParkedLine(text=text, reason=reason))
            known.add(text)
    return (*parked, *new)


def release(parked: Sequence[ParkedLine], body: str) -> tuple[ParkedLine, ...]:
    """Return the list without the entries that `body` says."""
    lines = tuple(parked)
    if not lines or not body:
        return lines
    near = set(map(id, index_parked(lines).list_near(KeyIndex(extract_items(body)))))
    if not near:
        return lines
    asked = [line for line in lines if id(line) in near]
    unsaid = set(fresh_items([line.text for line in asked], body))
    gone = {id(line) for line in asked if line.text not in unsaid and item_key(line.text)}
    return tuple(line for line in lines if id(line) not in gone) if gone else lines
