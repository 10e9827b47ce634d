"""The document: nothing in a text is lost, and what is written reads back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Section
from core.working_memory.document import (
    EMPTY,
    Document,
    Extra,
    find_section,
    is_working_memory,
    make_safe,
    parse_document,
    render_document,
)
from tests.core.working_memory.strategies import documents

noise = st.text(alphabet="#`~ \n\t-aX&\r\x0b\u3000*_", max_size=60)


@given(documents | noise)
def test_what_is_written_reads_back_as_it_was(text):
    document = parse_document(text)
    canonical = render_document(document)
    assert parse_document(canonical) == document
    assert render_document(parse_document(canonical)) == canonical


@given(documents | noise)
def test_no_word_of_a_text_is_lost(text):
    kept = render_document(parse_document(text))
    for word in ("item", "item 2", "text", "nested", "first", "call Bea", "第一"):
        lines = {line.strip() for line in text.split("\n") if word in line}
        assert not lines or word in kept


@given(documents | noise, documents | noise)
def test_safe_text_opens_no_section_wherever_it_stands(first, second):
    document = EMPTY.with_bodies(
        {Section.STATE: make_safe(first, Section.STATE), Section.ISSUES: make_safe(second, Section.ISSUES)}
    )
    assert parse_document(render_document(document)) == document


@given(documents | noise)
def test_making_safe_twice_changes_nothing_more(text):
    safe = make_safe(text, Section.FACTS)
    assert make_safe(safe, Section.FACTS) == safe


def test_empty_document_names_all_seven_sections():
    assert render_document(EMPTY).count("\n## ") == 7
    assert parse_document("") == EMPTY


def test_preamble_and_unknown_sections_are_written_back():
    document = Document(
        bodies={Section.STATE: "fine"}, extra=(Extra("采购", "- 12"), Extra("Empty", "")), preamble="my words"
    )
    text = render_document(document)
    assert text.startswith("# Working Memory\n\nmy words\n\n## Session Title\n")
    assert text.endswith("## 采购\n- 12\n\n## Empty\n")
    assert parse_document(text) == document


def test_section_given_twice_keeps_both_bodies_and_a_copy_counts_once():
    document = parse_document("## Files\na\n## Files & Context\nb\n## 文件与上下文\na")
    assert document.bodies[Section.FILES] == "a\nb"


def test_two_open_fences_that_would_close_each_other_swallow_no_section():
    document = parse_document("## Open Issues\n- run\n````\nmake\n## Current State\n```\nbusy")
    again = parse_document(render_document(document))
    assert again == document
    assert "busy" in again.bodies[Section.STATE]
    assert "make" in again.bodies[Section.ISSUES]


def test_fence_inside_an_item_hides_a_header():
    assert not is_working_memory("- see\n  ```\n  ## Open Issues\n  ```")
    assert not is_working_memory("- ```\n## Open Issues\n```")


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("KEY FACTS AND DECISIONS", Section.FACTS),
        ("3) __Files  &  Context__:", Section.FILES),
        ("二、当前状态：", Section.STATE),
        ("（2）待办", Section.ISSUES),
        ("Ｔｉｔｌｅ", Section.TITLE),
        ("État actuel", Section.STATE),
        ("Timeline", None),
        ("open issues of Ana", None),
    ],
)
def test_names_are_known_in_many_spellings(line, section):
    assert find_section(line) is section


def test_own_header_in_new_text_is_dropped_and_others_go_one_level_down():
    safe = make_safe("\n### Current State\n\n## Milestones\n- M1", Section.STATE)
    assert safe == "### Milestones\n- M1"


def test_open_fence_before_a_list_does_not_turn_the_list_into_code():
    safe = make_safe("```\n- one\n- two")
    assert safe == "``\n- one\n- two"
    assert make_safe("run:\n```sh\nmake") == "run:\n```sh\nmake\n```"
