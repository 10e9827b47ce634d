"""Counts and turns in words."""

import pytest

from core.model import Segment, SegmentId, SessionId, TurnId
from core.wording import count, say_segment_turns, say_turns


@pytest.mark.parametrize(("number", "words"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (12_000, "12,000 turns")])
def test_one_of_a_thing_is_no_plural(number, words):
    assert count(number, "turn") == words


def test_a_plural_may_be_irregular():
    assert (count(1, "entry", "entries"), count(3, "entry", "entries")) == ("1 entry", "3 entries")


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((), ""),
        ((4,), "turn 4"),
        ((4, 4), "turn 4"),
        ((3, 4, 5), "turns 3–5"),
        ((9, 2), "turns 2, 9"),
        ((7, 3, 5, 6), "turns 3, 5–7"),
    ],
)
def test_turns_are_named_in_order_and_neighbours_together(places, words):
    assert say_turns(places) == words


def segment(places):
    return Segment(
        id=SegmentId("s"), session_id=SessionId("a"), first_turn=TurnId(71), last_turn=TurnId(90), turn_count=3,
        started_at=0.0, ended_at=None, is_open=True, opened_by=None, gap_s=None, title="", summary="", places=places,
    )  # fmt: skip


@pytest.mark.parametrize(("places", "words"), [((2, 2), "turn 2"), ((2, 5), "turns 2–5"), (None, "3 turns")])
def test_a_segment_is_named_by_places_in_its_conversation_never_by_the_stores_numbers(places, words):
    assert say_segment_turns(segment(places)) == words
