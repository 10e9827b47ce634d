"""The outbox: which step is handed out, to whom, for how long, and when it comes back."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.model import SessionId
from core.storage import conversations, outbox, turns
from core.storage.database import Database
from core.storage.outbox import BACKOFF_S, LEASE_S, REMEMBER, TWIN


def add_turn(c, chat):
    turn = turns.add_turn(c, chat)
    outbox.add(c, chat, turn)
    return turn


def claim(write, owner="app", now=0.0):
    row = write(lambda c: outbox.claim(c, owner, now=now))
    return None if row is None else (row.turn, row.step)


def test_steps_come_in_turn_order(write, chat):
    first, second = (write(lambda c: add_turn(c, chat)) for _ in range(2))
    taken = []
    while row := claim(write):
        taken.append(row)
        write(lambda c, row=row: outbox.finish(c, *row))
    assert taken == [(first, REMEMBER), (first, TWIN), (second, REMEMBER), (second, TWIN)]


def test_a_later_turn_waits_for_the_earlier_one_of_its_conversation(write, chat):
    first = write(lambda c: add_turn(c, chat))
    write(lambda c: add_turn(c, chat))
    assert claim(write, "app") == (first, REMEMBER)
    assert claim(write, "job") == (first, TWIN)
    assert claim(write, "third") is None


def test_conversations_do_not_wait_for_each_other(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    first = write(lambda c: add_turn(c, chat))
    other = write(lambda c: add_turn(c, SessionId("other")))
    owners = ("one", "two", "three", "four")
    assert [claim(write, owner)[0] for owner in owners] == [first, first, other, other]


def test_a_lease_keeps_others_away_until_it_ends(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    write(lambda c: outbox.finish(c, turn, TWIN))
    assert claim(write, "dead", now=0.0) == (turn, REMEMBER)
    assert claim(write, "heir", now=LEASE_S - 1) is None
    assert claim(write, "heir", now=LEASE_S) == (turn, REMEMBER)


def test_an_owner_takes_up_its_own_step_again(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    assert claim(write, "app") == claim(write, "app") == (turn, REMEMBER)


def test_a_step_added_with_its_lease_is_its_owners_until_that_ends(write, chat):
    turn = write(lambda c: turns.add_turn(c, chat))
    write(lambda c: outbox.add_leased(c, chat, turn, TWIN, "job", now=0.0))
    assert claim(write, "app", now=1.0) is None
    assert claim(write, "app", now=LEASE_S) == (turn, TWIN)


def test_what_a_dead_owner_left_goes_on_at_once(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    assert claim(write, "dead") == (turn, REMEMBER)
    assert claim(write, "alive") == (turn, TWIN)
    write(lambda c: outbox.release(c, "dead"))
    assert claim(write, "heir") == (turn, REMEMBER)
    assert claim(write, "heir's child") is None  # what the living one has stays its own


def test_finishing_says_whether_it_was_still_to_do(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    assert write(lambda c: outbox.finish(c, turn, TWIN)) is True
    assert write(lambda c: outbox.finish(c, turn, TWIN)) is False
    assert write(outbox.count_waiting) == 1


def test_adding_twice_asks_once(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    write(lambda c: outbox.add(c, chat, turn))
    assert write(outbox.count_waiting) == write(lambda c: outbox.count_waiting(c, chat)) == 2
    assert write(lambda c: outbox.count_waiting(c, SessionId("other"))) == 0


def test_a_failed_step_waits_longer_each_time_and_says_why(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    write(lambda c: outbox.finish(c, turn, TWIN))
    now, waits = 0.0, []
    for _ in range(len(BACKOFF_S) + 1):
        row = write(lambda c, now=now: outbox.claim(c, "app", now=now))
        write(lambda c, row=row, now=now: outbox.postpone(c, row, error="The disk is full.", now=now))
        start = now
        while claim(write, "watcher", now=now) is None:
            now += 0.5
        waits.append(now - start)
        write(lambda c: c.execute("UPDATE outbox SET owner = NULL, lease_until = 0, attempts = attempts - 1"))
    assert waits == [*BACKOFF_S, BACKOFF_S[-1]]
    assert write(outbox.load_errors) == ("The disk is full.",)


def test_a_failed_turn_holds_up_its_conversation_but_no_other(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    first = write(lambda c: add_turn(c, chat))
    write(lambda c: add_turn(c, chat))
    other = write(lambda c: add_turn(c, SessionId("other")))
    write(lambda c: outbox.finish(c, first, TWIN))
    row = write(lambda c: outbox.claim(c, "app", now=0.0))
    write(lambda c: outbox.postpone(c, row, error="x", now=0.0))
    remembers = set()
    while row := claim(write, now=0.5):
        remembers.add(row)
        write(lambda c, row=row: outbox.finish(c, *row))
    assert (other, REMEMBER) in remembers
    assert {turn for turn, step in remembers if step == REMEMBER} == {other}


def test_deleting_a_turn_takes_its_steps_along(write, chat):
    turn = write(lambda c: add_turn(c, chat))
    write(lambda c: c.execute("DELETE FROM turns WHERE turn = ?", (turn,)))
    assert write(outbox.count_waiting) == 0


OWNERS = st.sampled_from(["app", "job"])
DEEDS = st.lists(st.tuples(OWNERS, st.sampled_from(["finish", "fail", "die"]), st.floats(0, 90)), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(DEEDS)
def test_whatever_owners_do_a_step_of_a_conversation_is_never_taken_out_of_order(write, chat, deeds):
    def play(c):
        c.execute("DELETE FROM turns")
        for _ in range(3):
            add_turn(c, chat)
        now, done, held = 0.0, [], {}
        for owner, deed, passes in deeds:
            now += passes
            row = outbox.claim(c, owner, now=now)
            if row is None:
                continue
            key = (row.turn, row.step)
            other, until = held.get(key, (owner, 0.0))
            assert other == owner or until <= now, "a lease was broken"
            held[key] = (owner, now + LEASE_S)
            if deed == "finish":
                outbox.finish(c, *key)
                done.append(key)
            elif deed == "fail":
                outbox.postpone(c, row, error="x", now=now)
                del held[key]
        return done

    done = write(play)
    for step in (TWIN, REMEMBER):
        order = [turn for turn, name in done if name == step]
        assert order == sorted(order)
    assert len(done) == len(set(done))


@pytest.mark.parametrize("step", [TWIN, REMEMBER])
def test_what_is_left_after_a_kill_is_handed_out_again(tmp_path, step):
    """The rows are in the file: a new process finds them once the dead one's lease is over."""

    async def run(work):
        store = Database(tmp_path / "keepsake.db")
        await store.open()
        try:
            return await store.write(work)
        finally:
            await store.aclose()

    def begin(c):
        chat = conversations.add(c, SessionId("chat"), at=1.0).id
        turn = add_turn(c, chat)
        outbox.finish(c, turn, TWIN if step == REMEMBER else REMEMBER)
        return outbox.claim(c, "dead", now=0.0).turn

    turn = asyncio.run(run(begin))
    row = asyncio.run(run(lambda c: outbox.claim(c, "heir", now=LEASE_S)))
    assert (row.turn, row.step, row.attempts) == (turn, step, 2)
