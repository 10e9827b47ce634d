"""Who is answered next in the model process."""

import pytest

pytest.importorskip("llama_cpp")

from core.llm.schedule import Schedule, Task

CHAT, BACKGROUND = 0, 10


class Flag:
    """What interrupts the computation."""

    def __init__(self):
        self.up = False

    def interrupt(self):
        self.up = True

    def clear(self):
        self.up = False


@pytest.fixture
def flag():
    return Flag()


@pytest.fixture
def schedule(flag):
    return Schedule(interrupt=flag.interrupt, clear=flag.clear)


def task(number, priority=BACKGROUND):
    return Task(number, priority, {})


def test_the_urgent_come_first_and_the_others_in_their_order(schedule):
    for one in (task(1), task(2, CHAT), task(3), task(4, CHAT)):
        schedule.put(one)
    assert [schedule.take(0).number for _ in range(4)] == [2, 4, 1, 3]
    assert schedule.take(0) is None


def test_a_chat_interrupts_background_work_which_goes_on_first_afterwards(schedule, flag):
    work = task(1)
    schedule.put(work)
    schedule.put(task(2))
    assert schedule.take(0) is work
    schedule.put(task(3, CHAT))
    assert flag.up
    assert schedule.yields(work)
    assert [schedule.take(0).number for _ in range(3)] == [3, 1, 2]
    assert not flag.up


def test_a_chat_interrupts_no_chat_and_background_work_nothing(schedule, flag):
    for priority in (CHAT, BACKGROUND):
        running = task(1, priority)
        schedule.put(running)
        assert schedule.take(0) is running
        schedule.put(task(2, priority))
        assert not flag.up
        assert not schedule.yields(running)
        schedule.cancel(2)


def test_cancelling_what_waits_takes_it_out_and_what_runs_is_interrupted(schedule, flag):
    running, waiting = task(1), task(2)
    schedule.put(running)
    schedule.put(waiting)
    schedule.take(0)
    assert schedule.cancel(2) is waiting
    assert schedule.cancel(1) is None
    assert flag.up
    assert running.cancelled
    assert not schedule.yields(running)
    assert flag.up, "the computation must not begin again"
    assert schedule.take(0) is None
    assert schedule.cancel(99) is None


def test_an_interruption_for_one_that_has_gone_does_not_stop_the_work(schedule, flag):
    work = task(1)
    schedule.put(work)
    schedule.take(0)
    schedule.put(task(2, CHAT))
    schedule.cancel(2)
    assert not schedule.yields(work)
    assert not flag.up


def test_after_the_stop_nothing_is_begun(schedule, flag):
    work = task(1)
    schedule.put(work)
    schedule.take(0)
    schedule.stop()
    assert flag.up
    assert schedule.yields(work)
    assert schedule.take(None) is None
    assert schedule.stopping
