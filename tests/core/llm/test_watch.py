"""When a model process is given up."""

from core.llm.watch import HangWatch, Patience

PATIENCE = Patience(beat_s=1, silence_s=10, first_silence_s=60, idle_computing_s=20, stopping_s=5)


def beat_until(watch, end_s, *, start_s=1, answers=None):
    """Beat once a second; return when and why the process was given up, or None."""
    for now_s in range(start_s, end_s + 1):
        if reason := watch.beat(now_s):
            return now_s, reason
        if answers is not None:
            watch.take_answer(now_s + 0.1, **answers(now_s))
    return None


def test_a_process_that_answers_is_left_alone_however_long_it_computes():
    busy = lambda now_s: {"computing_s": float(now_s), "cpu_s": now_s * 0.5}  # noqa: E731
    assert beat_until(HangWatch(PATIENCE, 0), 1000, answers=busy) is None


def test_one_that_falls_silent_is_given_up():
    watch = HangWatch(PATIENCE, 0)
    watch.hear(0)
    when, reason = beat_until(watch, 100)
    assert when == 10
    assert "not answered for 10 s" in reason


def test_the_first_answer_may_take_longer():
    assert beat_until(HangWatch(PATIENCE, 0), 59) is None


def test_our_own_standstill_is_not_the_processes_fault():
    watch = HangWatch(PATIENCE, 0)
    watch.hear(0)
    assert watch.beat(100) == ""


def test_one_that_computes_without_a_processor_is_given_up():
    stuck = lambda now_s: {"computing_s": float(now_s), "cpu_s": 7.0}  # noqa: E731
    watch = HangWatch(PATIENCE, 0)
    watch.take_answer(0, computing_s=0.0, cpu_s=7.0)
    _, reason = beat_until(watch, 100, answers=stuck)
    assert "stood still" in reason


def test_one_that_waits_for_work_uses_no_processor_either():
    idle = lambda now_s: {"computing_s": 0.0, "cpu_s": 7.0}  # noqa: E731
    assert beat_until(HangWatch(PATIENCE, 0), 1000, answers=idle) is None


def test_one_that_does_not_stop_is_given_up_and_one_that_does_is_not():
    busy = lambda now_s: {"computing_s": float(now_s), "cpu_s": now_s * 1.0}  # noqa: E731
    watch = HangWatch(PATIENCE, 0)
    watch.cancel(1, 0)
    watch.end(1)
    assert beat_until(watch, 50, answers=busy) is None
    watch.cancel(2, 50)
    when, reason = beat_until(watch, 100, start_s=51, answers=busy)
    assert when == 55
    assert "did not stop" in reason
