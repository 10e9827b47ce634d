"""Shares of the window, and which messages are shown in theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sessions.budget import fit_messages, share_context
from core.sessions.turns import LiveMessage
from tests.core.sessions.test_split import talk


@given(st.integers(-10, 2_000_000))
def test_shares_are_the_whole_window_and_none_is_negative(size):
    shares = share_context(size)
    parts = (shares.reserve, shares.archive, shares.instruction, shares.session)
    assert sum(parts) == max(0, size)
    assert min(parts) >= 0


def test_large_windows_reserve_at_least_20000_for_the_answer():
    assert share_context(79_999).reserve == 19_999
    assert share_context(80_000).reserve == 20_000
    assert share_context(200_000).reserve == 30_000


CASES = {
    "nothing for nothing": ("ua", [5, 5], 0, [], {}),
    "all fits": ("uau", [5, 5, 5], 15, [0, 1, 2], {}),
    "older turn does not fit whole": ("uaua", [5, 5, 5, 5], 19, [2, 3], {}),
    "no gap for a small old turn": ("uauaua", [1, 1, 9, 90, 5, 5], 50, [4, 5], {}),
    "no gap inside the newest turn": ("uaaa", [5, 5, 90, 5], 60, [0, 3], {}),
    "both cut to half": ("ua", [80, 80], 60, [0, 1], {0: 30, 1: 30}),
    "short question leaves its room": ("ua", [10, 80], 60, [0, 1], {1: 50}),
    "short answer leaves its room": ("ua", [80, 10], 60, [0, 1], {0: 50}),
    "only the long result of a step is cut": ("ucr", [10, 10, 80], 60, [0, 1, 2], {2: 40}),
    "question alone": ("uau", [5, 5, 80], 60, [2], {2: 60}),
}


@pytest.mark.parametrize(("letters", "costs", "budget", "ids", "cut"), CASES.values(), ids=CASES)
def test_rule(letters, costs, budget, ids, cut):
    fit = fit_messages(talk(letters, costs), budget)
    assert list(fit.ids) == ids
    assert dict(fit.max_tokens) == cut


@given(
    st.lists(st.tuples(st.sampled_from("uacr"), st.integers(0, 90)), max_size=25),
    st.integers(-5, 300),
)
def test_shown_messages_cost_at_most_the_budget_and_end_with_the_newest(steps, budget):
    messages: list[LiveMessage] = talk("".join(s for s, _ in steps), [cost for _, cost in steps])
    fit = fit_messages(messages, budget)
    costs = {message.id: message.tokens for message in messages} | dict(fit.max_tokens)
    assert sum(costs[i] for i in fit.ids) <= max(0, budget)
    assert sorted([*fit.ids, *fit.left_out_ids]) == list(range(len(messages)))
    if budget > 60 and messages:
        assert fit.ids[-1] == messages[-1].id
