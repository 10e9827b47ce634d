"""Title, state and goals: rules that the shared vectors do not cover."""

import pytest

from core.model import Section
from core.working_memory.guards.apply import apply_guard
from core.working_memory.guards.outcome import Context
from core.working_memory.guards.title import is_same_topic, read_title
from core.working_memory.operations import KEEP, Update, read_operation
from core.working_memory.parked import ParkReason

LONG_STATE = (
    "Waiting for the visa office to answer. Appointment is on 2026-05-11 at 9:40 in room 214. "
    "Still must bring the original birth certificate and two photos. The weather is nice today."
)


def guard(section, value, old, **context):
    return apply_guard(section, read_operation(value, section), old, (), Context(**context))


def update(content):
    return {"op": "UPDATE", "content": content}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Node.js upgrade", "node.js 22 rollout", True),
        ("C++ build", "C# build tools", True),
        ("C++ basics", "C# basics 2", True),
        ("2025", "anything goes", True),
        ("2025 budget", "2025 holiday", False),
        ("京都旅行", "旅行计划", True),
        ("京都计划", "大阪计划", False),
        ("京都旅行", "Kyoto trip", False),
        ("Chat", "Sourdough", True),
    ],
)
def test_same_topic(old, new, same):
    assert is_same_topic(old, new) is same


def test_title_is_the_first_line_that_is_no_description():
    assert read_title("\n_what this is about_\n## \n- **“Kyoto trip”**\nmore") == "**“Kyoto trip”**"
    assert read_title("n/a") == ""


def test_refused_title_waits_where_the_user_sees_it():
    outcome = guard(Section.TITLE, update("Flaky login test"), "Postgres upgrade")
    assert outcome.operation == KEEP
    assert [(line.text, line.reason) for line in outcome.parked] == [("Flaky login test", ParkReason.NOT_APPLIED)]
    assert outcome.reason == "The new title shares no word with the old one, so the old one was kept."


def test_locked_title_stays():
    outcome = guard(Section.TITLE, update("Postgres drill"), "Postgres upgrade", locked=("Postgres upgrade",))
    assert outcome.body == "Postgres upgrade"


def test_state_that_shrinks_carries_what_has_a_date_or_a_duty():
    outcome = guard(Section.STATE, update("Waiting."), LONG_STATE)
    assert outcome.body == (
        "Waiting.\n- [carried] Appointment is on 2026-05-11 at 9:40 in room 214.\n"
        "- [carried] Still must bring the original birth certificate and two photos."
    )
    assert outcome.operation == Update(outcome.body)
    assert "2 lines were kept" in outcome.reason


def test_state_that_does_not_shrink_is_simply_new():
    new = "The visa office answered: come back in two weeks, then bring one more photo to the desk."
    assert guard(Section.STATE, update(new), LONG_STATE).body == new


def test_carried_state_is_parked_at_the_next_update_even_without_a_shrink():
    old = "Almost done.\n- [carried] Appointment is on 2026-05-11."
    outcome = guard(Section.STATE, update("Now the flights are to be booked."), old)
    assert outcome.body == "Now the flights are to be booked."
    assert [(line.text, line.reason) for line in outcome.parked] == [
        ("Appointment is on 2026-05-11.", ParkReason.DROPPED_TWICE)
    ]


def test_nested_goal_is_carried_with_its_parents_text():
    outcome = guard(Section.GOALS, update("- rest"), "- visa:\n  - hand in by 2026-07-10")
    assert outcome.body == "- rest\n- [carried] visa: hand in by 2026-07-10"


def test_goal_with_a_mark_at_its_end_may_go():
    assert guard(Section.GOALS, update("- rest"), "- order 12 litres of paint [done]\n- rest").body == "- rest"


def test_full_goals_park_the_plain_ones_first():
    goals = [f"- pay bill {i} by 2026-05-{i % 28 + 1:02}" for i in range(49)]
    old = "\n".join([*goals[:30], "- learn to juggle", *goals[30:]])
    outcome = guard(Section.GOALS, {"items": ["pay bill 99 by 2026-09-01"]}, old)
    assert [line.text for line in outcome.parked] == ["learn to juggle"]
