"""Locked lines: no update changes them; what would take their place waits for the user."""

from hypothesis import given
from hypothesis import strategies as st

from core.model import ParkedLine, Section
from core.text.items import render_items
from core.working_memory.bodies import item_texts
from core.working_memory.locks import find_wanted, would_replace
from core.working_memory.marks import RESTORED, strip_tag
from core.working_memory.merge import merge
from core.working_memory.parked import ParkReason
from tests.core.working_memory.strategies import STATEMENTS, updates

FACTS, ISSUES, TITLE, STATE = Section.FACTS, Section.ISSUES, Section.TITLE, Section.STATE
ONE_LINE = [
    text for text in STATEMENTS if text.strip() and "\n" not in text and not text.startswith(("#", "`", "[", "-"))
]


def document(**bodies: list[str]) -> str:
    return "".join(f"## {Section[name].value}\n{render_items(lines)}\n\n" for name, lines in bodies.items())


def merge_locked(text, operations, section, *lines):
    return merge(text, operations, locked={section: lines})


def test_new_value_for_a_locked_line_waits_as_a_proposal():
    text = document(FACTS=["port is 5432", "Naomi owns billing"])
    update = {FACTS: {"op": "UPDATE", "content": "- port is 6432\n- Naomi owns billing"}}
    result = merge_locked(text, update, FACTS, "port is 5432")
    assert item_texts(result.document.bodies[FACTS]) == ("port is 5432", "Naomi owns billing")
    assert [line.text for line in result.parked[FACTS]] == ["port is 6432"]
    decision = next(d for d in result.decisions if d.section is FACTS)
    assert (decision.parked, "locked" in decision.reason) == (("port is 6432",), True)


def test_appended_contradiction_of_a_locked_line_waits_too():
    result = merge_locked(
        document(FACTS=["never deploy on Fridays"]),
        {FACTS: {"op": "APPEND", "items": ["deploy on Fridays", "Kyoto hotel"]}},
        FACTS,
        "never deploy on Fridays",
    )
    assert item_texts(result.document.bodies[FACTS]) == ("never deploy on Fridays", "Kyoto hotel")
    assert [line.text for line in result.parked[FACTS]] == ["deploy on Fridays"]


def test_next_of_a_series_does_not_replace_a_locked_one():
    text = document(FACTS=["room 4 is free", "room 5 is free"])
    result = merge_locked(text, {FACTS: {"op": "APPEND", "items": ["room 6 is free"]}}, FACTS, "room 4 is free")
    assert "room 6 is free" in item_texts(result.document.bodies[FACTS])


def test_without_the_lock_the_new_line_enters():
    text = document(FACTS=["never deploy on Fridays"])
    result = merge(text, {FACTS: {"op": "APPEND", "items": ["deploy on Fridays"]}})
    assert "deploy on Fridays" in item_texts(result.document.bodies[FACTS])


def test_resolution_of_a_locked_issue_does_not_mark_it():
    result = merge_locked(
        document(ISSUES=["call Bea"]), {ISSUES: {"op": "APPEND", "items": ["[resolved] call Bea"]}}, ISSUES, "call Bea"
    )
    assert "call Bea" in item_texts(result.document.bodies[ISSUES])


def test_every_title_that_waits_wants_the_place_of_a_locked_title():
    result = merge_locked(
        document(TITLE=["Kyoto trip"]), {TITLE: {"op": "UPDATE", "content": "Tax"}}, TITLE, "Kyoto trip"
    )
    wanted = find_wanted(TITLE, ["Kyoto trip"], result.parked[TITLE])
    assert [line.text for line in wanted["Kyoto trip"]] == ["Tax"]


def test_what_waits_for_other_reasons_is_no_proposal():
    parked = [
        ParkedLine(text="Kyoto hotel", reason=ParkReason.NOT_APPLIED),
        ParkedLine(text="port is 7432", reason=ParkReason.CAP),
        ParkedLine(text="port is 6432", reason=ParkReason.NOT_APPLIED),
    ]
    wanted = find_wanted(FACTS, ["port is 5432"], parked)
    assert {line: [p.text for p in waiting] for line, waiting in wanted.items()} == {"port is 5432": ["port is 6432"]}


def test_the_same_line_in_other_dress_is_no_proposal():
    assert not would_replace("port is 5432", "**Port** is 5432.")
    assert would_replace("用户对花生过敏", "用户对花生不过敏")


@given(
    st.lists(st.sampled_from(ONE_LINE), min_size=1, max_size=8, unique=True),
    st.sampled_from([s for s in Section if s is not TITLE]),
    st.data(),
    st.lists(updates, min_size=1, max_size=3),
)
def test_locked_lines_survive_any_updates_word_for_word(lines, section, data, rounds):
    locked = data.draw(st.lists(st.sampled_from(lines), max_size=3, unique=True))
    text = document(**{section.name: lines})
    standing = [strip_tag(item, RESTORED) for item in item_texts(merge(text, None).document.bodies[section])]
    locked = [line for line in locked if line in standing]
    parked: dict[Section, tuple[ParkedLine, ...]] = {}
    for operations in rounds:
        result = merge(text, operations, parked, locked={section: tuple(locked)})
        text, parked = result.text, result.parked
    left = [strip_tag(item, RESTORED) for item in item_texts(result.document.bodies[section])]
    for line in locked:
        assert line in left
    assert not set(locked) & {line.text for line in parked[section]}
