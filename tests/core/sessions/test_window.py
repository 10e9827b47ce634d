"""The live window: what is pending, when a commit is due, and that counting never drifts."""

from hypothesis import given
from hypothesis import strategies as st

from core.sessions.window import Window, load_window, read_estimate, read_keep

estimates = st.one_of(st.integers(-100, 500), st.none(), st.booleans(), st.floats(), st.text(max_size=3))


def append_all(window: Window, costs: list[object]) -> Window:
    for cost in costs:
        window = window.append(cost)
    return window


@given(st.lists(estimates, max_size=30), st.lists(estimates, max_size=30), st.integers(-5, 20))
def test_running_counters_equal_rebuilt_ones(existing, appended, keep):
    running = append_all(load_window(existing, keep), appended)
    assert running == load_window([*existing, *appended], keep)


@given(st.lists(st.integers(0, 500), max_size=30), st.integers(0, 20))
def test_pending_and_window_add_up_to_live(costs, keep):
    window = load_window(costs, keep)
    assert window.pending_tokens + sum(window.inside) == window.live_tokens == sum(costs)


def test_window_of_nothing_makes_everything_pending():
    assert load_window([3, 4], 0).append(5).pending_tokens == 12


def test_keep_is_clamped():
    assert [read_keep(value) for value in (-1, 0, 10_000, 10_001, None, "7", float("inf"))] == [
        0,
        0,
        10_000,
        10_000,
        0,
        0,
        0,
    ]


def test_bad_estimates_count_as_nothing():
    assert [read_estimate(value) for value in (None, -3, True, "9", float("nan"), 2.9)] == [0, 0, 0, 0, 0, 2]


def test_commit_is_due_at_the_limit_by_either_counter():
    window = load_window([], 1).append(499)
    assert not window.is_due(1000)
    assert window.append(1).is_due(1000)  # live 500, pending 499


def test_nothing_live_is_never_due():
    assert not load_window([], 10).is_due(0)


def test_commit_that_had_nothing_to_do_is_asked_again_after_a_tenth_of_the_budget():
    window = load_window([600], 10)
    assert window.may_ask_again(None, 1000)
    assert not window.append(99).may_ask_again(600, 1000)
    assert window.append(100).may_ask_again(600, 1000)
