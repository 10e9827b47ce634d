"""Turns by their place: in which conversation, and as which of its turns. For what names turns of several."""

from collections.abc import Iterable
from dataclasses import replace

from core.model import Place, SessionId, TurnId
from core.storage import file_changes, memory_edits
from core.storage.database import Connection


def number_turns(c: Connection, sessions: Iterable[SessionId]) -> dict[TurnId, int]:
    """Return the number of every turn within its conversation, from 1."""
    numbers: dict[TurnId, int] = {}
    for session_id in dict.fromkeys(sessions):
        numbers |= memory_edits.load_turn_numbers(c, session_id)
    return numbers


def load_places(c: Connection, turns: Iterable[TurnId]) -> dict[TurnId, Place]:
    """Return the places of turns, with their numbers; turns that are gone or hidden are left out."""
    places = file_changes.find_places(c, turns)
    numbers = number_turns(c, (place.session_id for place in places.values()))
    return {turn: replace(place, number=numbers[turn]) for turn, place in places.items()}
