"""Where turns are put: a drift waits one turn, the next message decides, everything else acts at once."""

import asyncio
import math
from array import array

import pytest

from core.archivist.boundaries import BoundaryRules
from core.jobs import segmentation
from core.jobs.segmentation import Arrival
from core.model import BoundaryReason, SessionId
from core.storage import conversations, segments, turns
from core.storage.database import Database
from core.storage.segments import Times

CHAT = SessionId("chat")
RULES = BoundaryRules(min_cosine=0.5)


def towards(degrees):
    """A unit vector; 0 and 90 degrees are two topics."""
    angle = math.radians(degrees)
    return array("f", [math.cos(angle), math.sin(angle)]).tobytes()


def place(tmp_path, *steps, flush=False, learns=False):
    """Place turns given as (text, degrees, arrival in s); returns (first, last, opened_by) of each segment.

    With `learns` the threshold is the model's own, moved by what was measured of the user.
    """

    def put(c, text, degrees, at):
        turn = turns.add_turn(c, CHAT)
        arrival = Arrival(
            session_id=CHAT,
            turn=turn,
            times=Times(arrived=at, ended=at + 5),
            text=text,
            vector=towards(degrees),
            model="test",
            recent_texts=(),
            language="en",
        )
        segment = segments.get_open(c, CHAT)
        measured = segments.load_similarities(c, "test", limit=1000)
        rules = BoundaryRules(similarities=measured) if learns else RULES
        plan = segmentation.plan(segment, arrival, rules, confirm=True)
        segmentation.store(c, segment, arrival, plan, now=at)
        turns.set_outcome(c, turn, kept=0, similarity=plan.similarity)

    def end(c):
        segment = segments.get_open(c, CHAT)
        if segment.held is not None:
            segment = segmentation.split_held(c, segment, now=0.0)
        segments.close(c, segment.id, closed_by=BoundaryReason.FLUSH, now=0.0)

    async def run():
        database = Database(tmp_path / "store.db")
        await database.open()
        await database.write(lambda c: conversations.add(c, CHAT, at=0.0))
        for text, degrees, at in steps:
            await database.write(lambda c, t=text, d=degrees, a=at: put(c, t, d, a))
        if flush:
            await database.write(end)
        found = await database.read(lambda c: segments.load_all(c, CHAT))
        await database.aclose()
        return [(s.first_turn, s.last_turn, s.opened_by) for s in found]

    return asyncio.run(run())


A, B = 0, 90
TALK = [("sourdough needs time", A, 0.0), ("how long should the dough rest", A, 60.0)]


def test_a_drift_that_goes_on_begins_the_segment_at_the_held_turn(tmp_path):
    assert place(tmp_path, *TALK, ("trains to Porto", B, 120.0), ("and a hotel near Ribeira", B, 180.0)) == [
        (1, 2, None),
        (3, 4, BoundaryReason.DRIFT),
    ]


def test_a_single_message_aside_stays_in_its_segment(tmp_path):
    steps = (*TALK, ("it rains outside", B, 120.0), ("back to the dough", A, 180.0), ("salt goes in last", A, 240.0))
    assert place(tmp_path, *steps) == [(1, 5, None)]


def test_a_held_turn_is_in_the_open_segment_until_it_is_decided(tmp_path):
    assert place(tmp_path, *TALK, ("trains to Porto", B, 120.0)) == [(1, 3, None)]


def test_a_held_drift_stands_when_the_conversation_rests(tmp_path):
    assert place(tmp_path, *TALK, ("trains to Porto", B, 120.0), flush=True) == [
        (1, 2, None),
        (3, 3, BoundaryReason.DRIFT),
    ]


@pytest.mark.parametrize(("before", "cut"), [(25, False), (230, True)])
def test_who_keeps_to_a_topic_drifts_sooner_once_enough_was_measured(tmp_path, before, cut):
    talk = [(f"flour and water {number}", 10 * (number % 2), 60.0 * number) for number in range(before)]
    aside = [(f"the oven door {number}", 62, 60.0 * (before + number)) for number in range(3)]
    found = place(tmp_path, *talk, *aside, learns=True)
    assert (BoundaryReason.DRIFT in [opened_by for _, _, opened_by in found]) is cut


def test_one_message_is_no_topic_to_drift_from(tmp_path):
    steps = [("good morning", A, 0.0), ("trains to Porto", B, 60.0), ("a hotel near Ribeira", B, 120.0)]
    assert place(tmp_path, *steps) == [(1, 3, None)]


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("trains to Porto", 5000.0, BoundaryReason.TIME_GAP),
        ("New topic: trains to Porto", 120.0, BoundaryReason.MARKER),
    ],
)
def test_silence_and_markers_act_at_once(tmp_path, text, at, reason):
    assert place(tmp_path, *TALK, (text, A, at)) == [(1, 2, None), (3, 3, reason)]


def test_a_last_word_before_a_silence_is_no_segment_of_its_own(tmp_path):
    steps = (*TALK, ("well, the children wait", B, 120.0), ("which trains run on Sunday", B, 9000.0))
    assert place(tmp_path, *steps) == [(1, 3, None), (4, 4, BoundaryReason.TIME_GAP)]
