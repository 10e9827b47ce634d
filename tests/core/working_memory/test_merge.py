"""Merging: total over any JSON, faithful where nothing was asked, and nothing protected vanishes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import ParkedLine, Section
from core.text.anchors import is_covered
from core.text.items import extract_items
from core.text.keys import is_resolved, item_key
from core.text.normal_form import fresh_items
from core.text.paths import find_paths
from core.text.tokens import estimate_tokens
from core.working_memory.document import EMPTY, parse_document, render_document
from core.working_memory.growth import DOCUMENT_TOKENS, STOP_ITEMS, STOP_TOKENS, measure
from core.working_memory.merge import EARLIER_NOTES, MergeResult, merge
from core.working_memory.parked import ParkReason
from tests.core.working_memory.strategies import documents, lists, operations, updates

PROTECTED = (Section.ERRORS, Section.ISSUES, Section.FACTS, Section.FILES)
KEEP_ALL = {section.value: {"op": "KEEP"} for section in Section}


def body_of(items):
    return "\n".join(f"- {' '.join(item.split())}" for item in items if item.strip(" #`~"))


def filled(**items):
    return EMPTY.with_bodies({Section[name]: body_of(found) for name, found in items.items()})


def everything(result: MergeResult, section: Section) -> list[str]:
    return [*extract_items(result.document.bodies[section]), *(line.text for line in result.parked[section])]


def says(texts, item):
    return any(item_key(item) == item_key(text) for text in texts) or not fresh_items([item], body_of(texts))


@given(documents, updates)
def test_no_update_raises_and_the_result_is_a_document(text, update):
    result = merge(text, update)
    assert parse_document(result.text) == result.document
    assert render_document(result.document) == result.text
    assert [decision.section for decision in result.decisions] == list(Section)


@given(documents, st.none() | st.just({}) | st.just(KEEP_ALL) | st.just([1, {"a": None}, "x"]))
def test_keeping_everything_changes_nothing(text, update):
    stored = render_document(parse_document(text))
    if parse_document(stored).preamble and "##" not in text:
        return
    assert merge(stored, update).text == stored


@given(documents, updates)
def test_merging_is_stable(text, update):
    first = merge(text, update)
    again = merge(first.text, None, first.parked)
    assert again.document.bodies.keys() == first.document.bodies.keys()
    for section in (s for s in Section if s is not Section.FACTS):
        assert again.document.bodies[section] == first.document.bodies[section]


@given(st.sampled_from(PROTECTED), lists, operations)
def test_protected_items_never_vanish(section, items, operation):
    document = EMPTY.with_bodies({section: body_of(items)})
    result = merge(render_document(document), {section.value: operation})
    after = everything(result, section)
    for item in extract_items(document.bodies[section]):
        if section is Section.ISSUES and is_resolved(item):
            continue
        if section is Section.FILES and not find_paths(item):
            continue
        assert says(after, item) or is_covered(item, after) or _matches_issue(section, item, after), (item, after)


def _matches_issue(section, item, after):
    """An issue may also be kept by a line that holds its whole text."""
    return section is Section.ISSUES and any(item_key(item) in item_key(text) for text in after)


@given(st.sampled_from(PROTECTED), lists, st.lists(st.sampled_from(["buy hose", "docs/x.md", "B220 at 9:40"])))
def test_what_an_append_brought_is_in_the_document_or_waits(section, old, brought):
    document = EMPTY.with_bodies({section: body_of(old)})
    result = merge(render_document(document), {section.value: {"op": "APPEND", "items": brought}})
    for item in brought:
        assert says(everything(result, section), item)


@given(documents, st.lists(updates, max_size=4))
def test_tags_never_stack_and_lists_stay_within_their_ceilings(text, rounds):
    result = merge(text, None)
    for update in rounds:
        before = result
        result = merge(result.text, update, result.parked)
        for section, body in result.document.bodies.items():
            for tag in ("[restored]", "[carried]"):
                if f"{tag} {tag}" not in json.dumps([text, update], ensure_ascii=False, default=str):
                    assert f"{tag} {tag}" not in body
            if section in (Section.FILES, Section.ERRORS, Section.ISSUES, Section.GOALS):
                size = measure(body)
                changed = body != before.document.bodies[section]
                assert not changed or (size.items <= STOP_ITEMS and size.tokens <= STOP_TOKENS)


def test_document_never_exceeds_its_ceiling_and_what_leaves_it_waits():
    facts = [f"fact {i} about shelf {i} " + "word " * 60 for i in range(300)]
    state = "s " * 2000
    document = EMPTY.with_bodies({Section.FACTS: body_of(facts), Section.STATE: state.strip()})
    result = merge(render_document(document), None)
    assert estimate_tokens(result.text) <= DOCUMENT_TOKENS
    assert not result.over_ceiling
    kept = extract_items(result.document.bodies[Section.FACTS])
    assert kept[-1].startswith("fact 299")
    assert len(kept) + len(result.parked[Section.FACTS]) == 300
    assert {line.reason for line in result.parked[Section.FACTS]} == {ParkReason.CEILING}


def test_locked_text_alone_over_the_ceiling_is_said_and_stays():
    facts = [f"locked {i} " + "word " * 200 for i in range(300)]
    document = EMPTY.with_bodies({Section.FACTS: body_of(facts)})
    locked = extract_items(document.bodies[Section.FACTS])
    result = merge(render_document(document), None, locked={Section.FACTS: locked})
    assert result.over_ceiling
    assert result.document == document


def test_text_without_headers_becomes_a_section_of_its_own():
    result = merge("# Working Memory\n\nJust some words\n- and a point", {"State": {"content": "fine"}})
    assert [extra.header for extra in result.document.extra] == [EARLIER_NOTES]
    assert result.document.extra[0].body == "Just some words\n- and a point"
    assert merge(result.text, None).text == result.text


def test_text_under_unknown_keys_and_bare_text_wait_for_the_user():
    result = merge("", {"Timeline": ["May: kick-off"], "Current State": "all is well", "Open Issues": {"op": "DROP"}})
    assert [line.text for line in result.parked[Section.FACTS]] == ["May: kick-off"]
    assert [line.text for line in result.parked[Section.STATE]] == ["all is well"]
    assert result.document == EMPTY
    later = merge(result.text, None, result.parked)
    assert later.document == EMPTY  # it enters by the user's hand only


def test_parked_line_leaves_the_list_when_the_section_says_it():
    parked = {Section.ISSUES: (ParkedLine(text="call Bea", reason=ParkReason.DROPPED_TWICE),)}
    assert merge("", None, parked).parked[Section.ISSUES]
    result = merge("", {"Open Issues": {"items": ["Call Bea."]}}, parked)
    assert result.parked[Section.ISSUES] == ()


def test_locked_line_comes_back_word_for_word_at_its_place():
    document = filled(GOALS=["paint the fence", "rest on Sundays", "find a dog"], STATE=["busy"])
    update = {"Task & Goals": {"op": "UPDATE", "content": "- paint the fence\n- sail\n- Find a dog!"}}
    locked = {Section.GOALS: ("rest on Sundays", "find a dog")}
    result = merge(render_document(document), update, locked=locked)
    assert result.document.bodies[Section.GOALS] == "- paint the fence\n- rest on Sundays\n- sail\n- find a dog"


def test_decision_says_in_words_what_was_restored():
    document = filled(ISSUES=["book the vet", "buy cat food", "call Bea"])
    result = merge(render_document(document), {"Open Issues": {"op": "UPDATE", "content": "- call Bea"}})
    decision = result.decisions[-1]
    assert (decision.asked, decision.applied) == ("UPDATE", "UPDATE")
    assert decision.restored == ("book the vet", "buy cat food")
    assert decision.reason == (
        "The update left out 2 open issues without saying they were resolved, so they were kept."
    )


def test_value_corrected_in_the_users_own_words_replaces_the_old_line():
    old = render_document(filled(GOALS=["keep costs below 2400 EUR", "paint the fence"]))
    update = {"Task & Goals": {"op": "UPDATE", "content": "- keep costs below 2600 EUR\n- paint the fence"}}
    own_words = ["We can spend more: costs below 2600 EUR are fine."]
    corrected = merge(old, update, user_turns=own_words)
    assert "2400" not in corrected.text
    assert [(line.text, line.reason) for line in corrected.parked[Section.GOALS]] == [
        ("keep costs below 2400 EUR", ParkReason.SUPERSEDED)
    ]
    assert "- [carried] keep costs below 2400 EUR" in merge(old, update).text


def test_secret_disappears_from_old_text_new_items_and_parked_lines():
    token = "gh" + "p_" + "a" * 36
    old = render_document(filled(FACTS=[f"deploy key {token}", "port is 6432"]))
    update = {"Open Issues": {"items": [f"rotate {token}"]}, "Timeline": f"used {token}"}
    parked = {Section.ERRORS: (ParkedLine(text=f"pasted {token}", reason=ParkReason.CEILING),)}
    result = merge(old, update, parked)
    assert token not in repr(result)
    assert "port is 6432" in result.text
    assert "rotate" in result.document.bodies[Section.ISSUES]


def test_number_with_equal_digits_is_no_loop_but_a_loop_is_none_of_the_users_words():
    result = merge("", {"Facts": {"items": ["PIN is 0000", "1.1.1.1.1.1.1.1.1.1", "aaaaaaaaaaaa", "gate 4471"]}})
    assert extract_items(result.document.bodies[Section.FACTS]) == ("PIN is 0000", "gate 4471")
    assert result.decisions[3].skipped == ("1.1.1.1.1.1.1.1.1.1", "aaaaaaaaaaaa")


def test_a_value_corrected_in_a_later_turn_gives_way_though_the_rest_was_said_before():
    old = render_document(filled(FACTS=["The cutover is on Thursday 12 March at 06:00"]))
    update = {Section.FACTS: {"op": "UPDATE", "content": "- The cutover is on Thursday 12 March at 05:30"}}
    corrected = merge(old, update, user_turns=["It's 05:30, not 06:00."])
    assert "06:00" not in corrected.text
    invented = merge(old, update, user_turns=["What time was it?"])
    assert "06:00" in invented.text


@pytest.mark.parametrize("others", [0, 100])
def test_a_secret_in_the_parked_list_is_redacted_by_each_merge_that_meets_it(others):
    lines = tuple(ParkedLine(text=f"Berth {number} is taken", reason=ParkReason.STOP) for number in range(others))
    leaking = (*lines, ParkedLine(text="The key is sk-ant-api03-" + "Ab3dE6gH9jK2" * 8, reason=ParkReason.STOP))
    for _ in range(2):  # the result of the first may have been thrown away
        waiting = merge("", {}, {Section.FACTS: leaking}).parked[Section.FACTS]
        said = " ".join(line.text for line in waiting) + merge("", {}, {Section.FACTS: leaking}).text
        assert "The key is" in said
        assert "Ab3dE6gH9jK2" not in said
