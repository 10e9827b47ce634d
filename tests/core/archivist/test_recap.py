"""Recaps by rule: what they may cost, what was said, what stands in, and when they are tried again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist.recap import (
    PendingRecap,
    Trigger,
    choose_due,
    decide_outcome,
    plan_budget,
    wait_after,
    write_bookend,
)
from core.archivist.recap_check import check_recap

SOURCE = "Dana paid 1,240 euros for the M8 manifold on 12 March; it was three valves, see retry.py and “plan B”."


@given(st.integers(80, 100_000))
def test_a_budget_is_a_quarter_of_the_input_within_its_bounds(tokens):
    budget = plan_budget(tokens)
    assert 48 <= budget.max_tokens <= 512
    assert budget.max_tokens in (48, 512) or 0 <= 4 * budget.max_tokens - tokens < 4


@given(st.text(), st.text(), st.integers(1, 50))
def test_a_bookend_is_one_line_whose_layout_no_message_can_forge(first, last, turns):
    line = write_bookend(first, last, turns)
    assert len(line.splitlines()) <= 1 or not line.isprintable()
    assert line.count(" | Ended with: ") <= 1
    assert line.count(" | ") <= 1


def test_a_bookend_names_the_sentences_below_it():
    text = write_bookend("a question", "an answer", 2, ["We decided on Monday."])
    assert text.splitlines()[1:] == ["We decided on Monday."]


@pytest.mark.parametrize(
    ("text", "error", "seconds", "usable"),
    [("Fine.", None, 90, True), ("Fine.", None, 90.1, False), ("Fine.", "killed", 1, False), (" ", None, 1, False)],
)
def test_only_a_text_in_time_and_without_error_is_a_recap(text, error, seconds, usable):
    outcome = decide_outcome(text, error=error, seconds=seconds)
    assert (outcome.usable, outcome.embed, not outcome.retry) == (usable, usable, usable)
    assert not outcome.to_tree


def pending(*rows: tuple[str, float, float | None]) -> list[PendingRecap]:
    return [PendingRecap(id=name, closed_at=closed, next_try_at=due) for name, closed, due in rows]


def test_a_success_is_followed_by_the_three_that_waited_longest_and_are_due():
    rows = pending(("a", 5, 0), ("b", 1, 99), ("c", 2, 10), ("d", 3, None), ("e", 4, 1))
    assert choose_due(rows, now=10, trigger=Trigger.RECAP_OK) == ("c", "d", "e")


def test_a_start_and_the_timer_send_one_probe_and_a_failure_none():
    rows = pending(("a", 5, 0), ("c", 2, 10))
    assert (
        choose_due(rows, now=10, trigger=Trigger.STARTUP) == choose_due(rows, now=10, trigger=Trigger.TIMER) == ("c",)
    )
    assert choose_due(rows, now=10, trigger=Trigger.RECAP_FAILED) == ()


def test_waits_grow_to_a_day():
    assert [wait_after(n) for n in (1, 2, 3, 4, 5, 6, 40)] == [60, 600, 3600, 21600, 86400, 86400, 86400]


# -- evidence ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recap",
    [
        "The user paid 1240 euros to get the M8 manifold with 3 valves.",
        "On the 12th of March Dana's invoice was settled, as in retry.py.",
        "The Assistant agreed with the User on “plan B”.",
        "dana paid on 12 MARCH.",
    ],
)
def test_what_was_said_is_accepted(recap):
    assert check_recap(SOURCE, recap).unsupported == ()


@pytest.mark.parametrize(
    ("recap", "piece"),
    [
        ("She paid 1,420 euros.", "1,420"),
        ("The part is an M9 manifold.", "M9"),
        ("Then Rolf paid.", "Rolf"),
        ("They chose «plan C».", "plan C"),
        ("It is on https://dana.example/x.", "https://dana.example/x"),
        ("It is in repeat.py.", "repeat.py"),
        ("It is a PostgreSQL fault.", "PostgreSQL"),
        ("用户用了 Redis 和4个阀门。", "Redis"),
        ("用户读了《三体》。", "三体"),
    ],
)
def test_what_nobody_said_is_named(recap, piece):
    found = check_recap(SOURCE, recap)
    assert not found.accepted
    assert piece in found.unsupported


def test_unsupported_sentences_go_and_half_must_be_left():
    one_of_two = check_recap(SOURCE, "Dana paid 1,240 euros. Then Rolf came by.")
    assert one_of_two.usable == "Dana paid 1,240 euros."
    one_of_three = check_recap(SOURCE, "Dana paid. Then Rolf came. And so did Mia.")
    assert one_of_three.usable == ""


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_a_text_is_evidence_for_itself(text):
    assert check_recap(text, text).accepted
