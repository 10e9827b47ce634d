"""Segments: one open a conversation, each turn in one of them, the drift curve cut to each."""

import pytest

from core.errors import StorageError
from core.model import BoundaryReason, SegmentId, SessionId
from core.storage import conversations, segments, turns
from core.storage.segments import Centroid, Times

NO_VECTORS = Centroid(vector=None, count=0, model=None)


def begin(c, chat, turn, *, at=0.0, reason=None, gap_s=None, centroid=NO_VECTORS):
    times = Times(arrived=at, ended=at + 1)
    return segments.open_new(c, chat, turn, times, centroid, opened_by=reason, gap_s=gap_s, now=1.0)


def append(c, segment, turn, *, at=0.0, ended=None, held=False, centroid=NO_VECTORS):
    times = Times(arrived=at, ended=ended)
    segments.append_turn(c, segment, turn, times, centroid, held=held, vector=b"v" if held else None, now=1.0)


def close(c, segment, **options):
    values = {"closed_by": BoundaryReason.FLUSH, "now": 2.0}
    return segments.close(c, segment, **(values | options))


def test_a_conversation_has_one_open_segment_at_most(write, chat):
    write(lambda c: begin(c, chat, 1))
    with pytest.raises(StorageError):
        write(lambda c: begin(c, chat, 2))
    assert len(write(lambda c: segments.load_all(c, chat))) == 1


def test_each_conversation_may_have_its_own_open_segment(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    mine = write(lambda c: begin(c, chat, 1))
    theirs = write(lambda c: begin(c, SessionId("other"), 2))
    assert write(lambda c: segments.get_open(c, chat)).id == mine
    assert write(lambda c: segments.get_open(c, SessionId("other"))).id == theirs


def test_turns_join_the_open_segment(write, chat):
    segment = write(lambda c: begin(c, chat, 1, at=10.0))
    write(lambda c: append(c, segment, 2, at=30.0, ended=35.0))
    write(lambda c: append(c, segment, 3, at=60.0))
    found = write(lambda c: segments.get_open(c, chat))
    assert (found.first_turn, found.last_turn, found.turn_count) == (1, 3, 3)
    assert (found.started_at, found.times) == (10.0, Times(arrived=60.0, ended=35.0))  # no reply: the end stays


def test_a_closed_segment_is_whole(write, chat):
    segment = write(lambda c: begin(c, chat, 1))
    assert write(lambda c: close(c, segment)) is True
    write(lambda c: segments.name(c, segment, title="Tea", summary="Tea was had."))
    assert write(lambda c: close(c, segment)) is False
    write(lambda c: segments.name(c, segment, title="Again", summary="Again."))
    write(lambda c: append(c, segment, 2))
    found = write(lambda c: segments.get(c, segment))
    assert (found.turn_count, found.title, found.summary, found.is_open) == (1, "Tea", "Tea was had.", False)
    assert write(lambda c: segments.get_open(c, chat)) is None
    assert write(lambda c: segments.get(c, SegmentId("seg-none"))) is None


def test_a_turn_is_known_by_its_segment(write, chat):
    first = write(lambda c: begin(c, chat, 3))
    write(lambda c: append(c, first, 5))
    write(lambda c: close(c, first))
    write(lambda c: begin(c, chat, 9))
    inside = [turn for turn in range(1, 11) if write(lambda c, t=turn: segments.contains_turn(c, chat, t))]
    assert inside == [3, 4, 5, 9]


def test_only_open_segments_that_rested_are_idle(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    closed = write(lambda c: begin(c, chat, 1, at=0.0))
    write(lambda c: close(c, closed))
    rested = write(lambda c: begin(c, chat, 2, at=100.0))
    write(lambda c: begin(c, SessionId("other"), 3, at=500.0))
    assert [row.id for row in write(lambda c: segments.find_idle(c, before=102.0))] == [rested]
    assert write(lambda c: segments.find_idle(c, before=101.0)) == ()


def test_segments_come_in_order_each_with_its_part_of_the_curve(write, chat):
    def work(c):
        for _ in range(4):
            turns.add_turn(c, chat)
        for turn, similarity in ((2, 0.9), (3, 0.2), (4, 0.8)):
            turns.set_outcome(c, turn, kept=0, similarity=similarity)
        first = begin(c, chat, 1)
        append(c, first, 2)
        close(c, first)
        second = begin(c, chat, 3, reason=BoundaryReason.TIME_GAP, gap_s=700.0)
        append(c, second, 4)

    write(work)
    one, two = write(lambda c: segments.load_all(c, chat))
    assert (one.similarities, two.similarities) == ((0.9,), (0.2, 0.8))
    assert (one.opened_by, two.opened_by, two.gap_s) == (None, BoundaryReason.TIME_GAP, 700.0)
    assert (one.is_open, two.is_open) == (False, True)


def test_a_centroid_comes_back_bit_for_bit(write, chat):
    blob = bytes(range(256)) * 6
    mean = Centroid(vector=blob, count=7, model="e5")
    segment = write(lambda c: begin(c, chat, 1, centroid=mean))
    assert write(lambda c: segments.get(c, segment)).centroid == mean


def test_a_held_turn_can_be_taken_out_again(write, chat):
    segment = write(lambda c: begin(c, chat, 1, at=10.0))
    write(lambda c: append(c, segment, 2, at=30.0, ended=35.0))
    before = write(lambda c: segments.get(c, segment))
    write(lambda c: append(c, segment, 3, at=60.0, ended=65.0, held=True))
    held = write(lambda c: segments.get(c, segment))
    assert (held.last_turn, held.held.turn, held.held.before_turn) == (3, 3, 2)
    assert (held.held.times, held.held.before) == (Times(arrived=60.0, ended=65.0), before.times)
    write(lambda c: segments.shrink(c, held.id))
    assert write(lambda c: segments.get(c, segment)) == before


def test_taking_the_second_turn_out_leaves_the_first(write, chat):
    segment = write(lambda c: begin(c, chat, 1))
    write(lambda c: append(c, segment, 2, held=True))
    write(lambda c: segments.shrink(c, segment))
    found = write(lambda c: segments.get(c, segment))
    assert (found.first_turn, found.last_turn, found.turn_count) == (1, 1, 1)


def test_a_held_turn_can_be_let_in_for_good(write, chat):
    segment = write(lambda c: begin(c, chat, 1))
    write(lambda c: append(c, segment, 2, held=True))
    mean = Centroid(vector=b"mean", count=2, model="e5")
    write(lambda c: segments.release(c, segment, mean))
    found = write(lambda c: segments.get(c, segment))
    assert (found.held, found.last_turn, found.turn_count, found.centroid) == (None, 2, 2, mean)
