"""Probabilities of answers from those of their tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.choices import list_questions, score_choices


def logs(**shares):
    return {int(token[1:]): math.log(share) for token, share in shares.items()}


def test_answers_of_one_token_share_what_the_model_gave_them():
    scores = score_choices([(1,), (2,)], {(): logs(t1=0.3, t2=0.1)})
    assert scores == pytest.approx((0.75, 0.25))


def test_a_shared_first_token_is_asked_once_and_the_second_ones_decide():
    choices = [(1, 5), (1, 6), (2,)]
    assert list_questions(choices) == [(), (1,)]
    scores = score_choices(choices, {(): logs(t1=0.8, t2=0.2), (1,): logs(t5=0.75, t6=0.25)})
    assert scores == pytest.approx((0.6, 0.2, 0.2))


def test_an_answer_that_begins_another_keeps_what_the_longer_one_leaves():
    choices = [(1,), (1, 5), (2,)]
    scores = score_choices(choices, {(): logs(t1=0.8, t2=0.2), (1,): logs(t5=0.25)})
    assert scores == pytest.approx((0.6, 0.2, 0.2))


def test_of_three_that_begin_one_another_each_keeps_its_own_part():
    choices = [(1, 5, 6), (1,), (1, 5)]
    asked = {(): logs(t1=1.0), (1,): logs(t5=0.5), (1, 5): logs(t6=0.5)}
    assert score_choices(choices, asked) == pytest.approx((0.25, 0.5, 0.25))


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), min_size=2, max_size=6, unique=True))
def test_probabilities_add_up_to_one_in_any_order(choices):
    even = {beginning: {token: math.log(0.25) for token in range(4)} for beginning in list_questions(choices)}
    scores = dict(zip(choices, score_choices(choices, even), strict=True))
    assert sum(scores.values()) == pytest.approx(1.0)
    backwards = choices[::-1]
    assert dict(zip(backwards, score_choices(backwards, even), strict=True)) == pytest.approx(scores)
    assert all(score >= 0 for score in scores.values())


def test_improbable_answers_are_still_compared():
    scores = score_choices([(1,), (2,)], {(): {1: -2000.0, 2: -2001.0}})
    assert scores == pytest.approx((1 / (1 + math.exp(-1)), 1 / (1 + math.e)))
