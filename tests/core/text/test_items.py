"""Items: which lines are items, what their text is, and that writing and reading agree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.items import (
    extract_items,
    is_sentinel,
    read_items,
    render_item,
    render_items,
    split_entry,
)

CASES = {
    "each common marker": ("- a\n* b\n+ c\n– d\n• e\n1. f\n12) g\n（3）h\n④i\n二、j", list("abcdefghij")),
    "numbers that are content": (
        "3.5 km\n-5 °C\n1、2 号楼\n2026. Jahr",
        ["3.5 km", "-5 °C", "1、2 号楼", "2026. Jahr"],
    ),
    "wrapped line": ("- long\n  tail\n- next", ["long tail", "next"]),
    "wrapped CJK line": ("- 房东同意\n  延长\n- 押金", ["房东同意延长", "押金"]),
    "blank line ends a wrap": ("- a\n\n  b", ["a", "b"]),
    "marker alone, text below": ("-\n  text", ["text"]),
    "plain lines": ("a\nb", ["a", "b"]),
    "task box stays": ("- [x] done", ["[x] done"]),
    "heading, rule and description go": ("_what is pending_\n### H\n---\n* * *\n- a", ["a"]),
    "italic line further down stays": ("- a\n_never_", ["a", "_never_"]),
    "bold first line stays": ("**Rent** is due", ["**Rent** is due"]),
    "hash references stay": ("#4521 flaky\n#!/bin/sh", ["#4521 flaky", "#!/bin/sh"]),
    "sentinel goes": ("- [⚠ CONSOLIDATION REQUIRED: now]\n- a", ["a"]),
    "fence under a bullet": ("- run:\n```sh\n- not an item\n```\n- b", ["run:\n```sh\n- not an item\n```", "b"]),
    "fence alone": ("~~~\nx\n\ny\n~~~\nz", ["~~~\nx\n\ny\n~~~", "z"]),
    "open fence hides nothing": ("```\n- a\n- b", ["```", "a", "b"]),
    "CRLF": ("- a\r\n- b\r", ["a", "b"]),
    "line separators are ordinary": ("- a\u2028b", ["a\u2028b"]),
}


@pytest.mark.parametrize(("body", "items"), CASES.values(), ids=CASES)
def test_reading(body, items):
    assert list(extract_items(body)) == items


def test_a_nested_item_leaves_with_its_parents_text():
    trip, tent, _ = read_items("- trip to pack:\n  - tent\n- other")
    assert (tent.text, tent.depth, tent.parent) == ("tent", 1, "trip to pack:")
    assert tent.alone == "trip to pack: tent"
    assert trip.alone == "trip to pack:"


def test_an_item_knows_its_lines():
    body = "### H\n- a\n  more\n\n- b\n```\nx\n```"
    assert [(i.first_line, i.end_line) for i in read_items(body)] == [(1, 3), (4, 8)]


def test_an_entry_of_a_list_keeps_all_its_content():
    assert split_entry("## Title") == ("Title",)
    assert split_entry("_quiet_") == ("_quiet_",)
    assert split_entry("- a\n- b") == ("a", "b")
    assert split_entry("  \n") == ()


def test_further_lines_of_an_item_are_indented():
    assert render_item("a\n```\nx\n```") == "- a\n  ```\n  x\n  ```"


def test_the_sentinel_is_known_by_its_beginning():
    assert is_sentinel("[⚠ CONSOLIDATION REQUIRED] whatever")
    assert is_sentinel("[⚠\ufe0f CONSOLIDATION REQUIRED: x]")
    assert not is_sentinel("we said [⚠ CONSOLIDATION REQUIRED]")


body_lines = st.lists(
    st.one_of(
        st.sampled_from(["- a", "  - b", "  tail", "```", "~~~~", "  ```sh", "---", "_i_", "", "1、x", "- - y", "-"]),
        st.text(st.characters(exclude_characters="\r"), max_size=12),
    ),
    max_size=14,
).map("\n".join)


@given(body_lines)
def test_written_items_are_read_back(body):
    items = extract_items(body)
    assert extract_items(render_items(items)) == items


@pytest.mark.parametrize("body", ["```a\n" * 60_000, "- a\n" + "  b\n" * 120_000, "`" * 300_000, "-" * 200_000 + "x"])
def test_a_hostile_body_is_read_in_a_moment(body):
    start = time.perf_counter()
    extract_items(body)
    assert time.perf_counter() - start < 5
