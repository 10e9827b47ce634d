"""Facts, files, errors and issues: rules that the shared vectors do not cover."""

import pytest

from core.model import Section
from core.text.items import extract_items
from core.text.keys import is_resolved
from core.working_memory.guards.apply import apply_guard
from core.working_memory.guards.issues import match_issues
from core.working_memory.guards.outcome import Context
from core.working_memory.marks import add_tag, has_tag, strip_tag
from core.working_memory.operations import Append, Update, read_operation
from core.working_memory.parked import ParkReason, park


def guard(section, value, old, parked=(), **context):
    return apply_guard(section, read_operation(value, section), old, parked, Context(**context))


def update(*items):
    return {"op": "UPDATE", "content": "\n".join(f"- {item}" for item in items)}


def test_refused_consolidation_says_why_and_adds_what_is_new():
    old = "\n".join(f"- host node-{i:02} runs kernel 6.1" for i in range(20))
    outcome = guard(Section.FACTS, update("Ana joined the team"), old)
    assert outcome.operation == Append(("Ana joined the team",))
    assert outcome.reason.startswith("The update wanted to replace 20 facts by 1")


def test_accepted_consolidation_carries_what_it_forgot():
    old = "- Greta is treasurer\n- dues are 45 EUR\n- policy 7781\n- never lend the van"
    outcome = guard(Section.FACTS, update("Greta is treasurer", "dues are 45 EUR", "policy 7781"), old)
    assert outcome.carried == ("never lend the van",)
    assert outcome.operation == Update(outcome.body)


def test_consolidation_lets_waiting_facts_in():
    old = "- Greta is treasurer\n- dues are 45 EUR"
    parked = park((), ["the AGM is on 2026-09-12", "dues are 45 EUR"], ParkReason.CAP)
    outcome = guard(Section.FACTS, update("Greta is treasurer", "dues are 45 EUR"), old, parked)
    assert extract_items(outcome.body)[-1] == "the AGM is on 2026-09-12"
    assert outcome.parked == ()


def test_lost_file_keeps_the_list_and_notes_without_reference_wait():
    outcome = guard(Section.FILES, update("docs/b.md is new", "all quiet today"), "- docs/a.md")
    assert outcome.body == "- docs/a.md\n- docs/b.md is new"
    assert [(line.text, line.reason) for line in outcome.parked] == [("all quiet today", ParkReason.NO_REFERENCE)]
    assert "1 file or address" in outcome.reason


def test_errors_beyond_fifty_fold_the_oldest():
    old = "\n".join(f"- wrong turn {i}" for i in range(50))
    outcome = guard(Section.ERRORS, {"items": ["wrong turn 50", "wrong turn 51"]}, old)
    assert extract_items(outcome.body)[0] == "wrong turn 2"
    assert [line.text for line in outcome.parked] == ["wrong turn 0", "wrong turn 1"]


def test_locked_error_is_never_folded():
    old = "\n".join(f"- wrong turn {i}" for i in range(50))
    outcome = guard(Section.ERRORS, {"items": ["wrong turn 50"]}, old, locked=("wrong turn 0",))
    assert [line.text for line in outcome.parked] == ["wrong turn 1"]


def test_machine_cannot_close_a_locked_issue():
    outcome = guard(Section.ISSUES, {"items": ["[resolved] call Bea"]}, "- call Bea", locked=("call Bea",))
    assert outcome.body == "- call Bea"


def test_resolution_is_set_at_the_place_of_a_nested_issue():
    outcome = guard(Section.ISSUES, {"items": ["[done] call Bea", "buy salt"]}, "- family\n  - call Bea\n- rest")
    assert outcome.body == "- family\n  - [done] call Bea\n- rest\n- buy salt"


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        (["call Bea"], ["call Bea about the cake"], [True]),
        (["call Bea"], ["do not call Bea"], [False]),
        (["call Bea", "call Bea"], ["call Bea"], [True, False]),
        (["call Bea", "call Bea tonight"], ["call Bea tonight"], [False, True]),
        (["CI"], ["CI is red"], [True]),
        (["pay the rent on 5 May"], ["the rent: pay it to Ana on 5 May"], [True]),
        (["给供应商回邮件"], ["今天给供应商回邮件（催过）"], [True]),
        (["Refund order 5512"], ["Refund order 55123"], [False]),
    ],
)
def test_issue_is_still_named(old, new, stays):
    assert match_issues(old, new) == stays


@pytest.mark.parametrize(
    "text",
    [
        "[resolved] a",
        "a [fixed]",
        "【已解决】换锁",
        "✅ a",
        "~~a~~",
        "[x] a",
        "**[done]** a",
        "[new] [closed] a",
    ],
)
def test_marks_that_close(text):
    assert is_resolved(text)


@pytest.mark.parametrize(
    "text", ["explain [resolved] in the UI", "[ ] a", "[open] a", "resolved conflicts remain", "(x) a", "a ~~b~~ c"]
)
def test_words_that_do_not_close(text):
    assert not is_resolved(text)


def test_tags_are_put_once_and_other_tags_stay():
    assert add_tag("[restored] [P1] call", "[restored]") == "[restored] [P1] call"
    assert add_tag("[P1] [carried] call", "[restored]") == "[restored] [P1] call"
    assert strip_tag("[Restored] call [restored]", "[restored]") == "call [restored]"
    assert has_tag("[P1] [restored] call", "[restored]")
    assert not has_tag("the [restored] tag", "[restored]")
