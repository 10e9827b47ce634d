"""What may enter a memory file, and that nothing of the user's is lost by it."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.memory_files.documents import (
    EXCERPT_NOTE,
    Outcome,
    append,
    entry_key,
    excerpt,
    guard,
    make_room,
    replace_section,
)
from core.memory_files.merge import merge
from core.memory_files.outline import find_sections, sections

words = st.text(st.sampled_from("abcdeé 茶事实0123.+#"), min_size=1, max_size=12).filter(lambda s: entry_key(s) != "")
entries = st.lists(words.map(lambda s: f"- fact: {s.strip()}"), min_size=1, max_size=5)
user_lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["# Notes", "## Facts", "## Rules", "### Deep", "", "```", "~~~", "my own line", "Title\n-----", "  x"]
        ),
        words.map(lambda s: f"- {s}"),
    ),
    max_size=12,
)
files = st.builds(
    lambda lines, end, bom, last: (
        ("\ufeff" if bom else "") + end.join("\n".join(lines).split("\n")) + (end if last else "")
    ),
    user_lines,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
titles = st.sampled_from([None, "Facts", "rules", "New one"])


def bare(text: str) -> list[str]:
    return [line for line in text.replace("\ufeff", "").replace("\r\n", "\n").split("\n") if line.strip()]


@given(files, entries, titles)
def test_append_keeps_every_line_of_the_user_and_adds_each_entry_once(existing, new, title):
    edit = append(existing, "\n".join(new), title)
    if edit.outcome is not Outcome.WRITTEN:
        assert edit.text == existing
        return
    old, now = bare(existing), bare(edit.text)
    left = iter(now)
    assert all(line in left for line in old), "a line of the user is gone or moved"
    keys = [entry_key(line) for line in now]
    for line in new:
        assert keys.count(entry_key(line)) >= 1
    # What was added are the new entries, each once, and the section's heading at most.
    added = list(now)
    for line in old:
        added.remove(line)
    added = [line for line in added if line != f"## {title}"]
    assert len({entry_key(line) for line in added}) == len(added)
    assert {entry_key(line) for line in added} <= {entry_key(line) for line in new}


@given(files, entries, titles)
def test_the_same_append_twice_is_a_duplicate(existing, new, title):
    first = append(existing, "\n".join(new), title)
    assume(first.outcome is Outcome.WRITTEN)
    second = append(first.text, "\n".join(new), title)
    # An unclosed fence of the user swallows what follows; lines inside it are not entries.
    if existing.count("```") == existing.count("~~~") == 0:
        assert (second.text, second.outcome) == (first.text, Outcome.DUPLICATE)


@given(files, entries, titles)
def test_append_keeps_byte_order_mark_and_line_endings(existing, new, title):
    edit = append(existing, "\n".join(new), title)
    assert edit.text.startswith("\ufeff") == existing.startswith("\ufeff")
    assert edit.text.count("\ufeff") == existing.count("\ufeff")
    if existing.count("\r\n") == existing.count("\n") > 0:
        assert edit.text.count("\r\n") == edit.text.count("\n")


@given(files, entries)
def test_replacing_a_section_touches_no_other(existing, new):
    edit = replace_section(existing, "Facts", "\n".join(new))
    found = find_sections(existing, "Facts")
    if len(found) > 1:
        assert (edit.outcome, edit.text) == (Outcome.REFUSED, existing)
        return
    lines = existing.replace("\r\n", "\n").split("\n")
    head = bare("\n".join(lines[: found[0].start] if found else lines))
    tail = bare("\n".join(lines[found[0].content_end :])) if found else []
    now = bare(edit.text)
    assert now[: len(head)] == head
    assert now[len(now) - len(tail) :] == tail
    titles_before = [s.title for s in sections(existing)]
    fenced = any(mark in existing for mark in ("```", "~~~"))
    assert fenced or [s.title for s in sections(edit.text)] == titles_before + ["Facts"] * (not found)


@given(files, entries)
def test_lines_the_user_wrote_stay_when_their_section_is_replaced(existing, new):
    own = [line.rstrip("\r") for line in existing.split("\n") if line.strip()]
    edit = replace_section(existing, "Facts", "\n".join(new), protected=own)
    left = iter(line.rstrip() for line in bare(edit.text))
    assert all(line.rstrip() in left for line in bare(existing)) or edit.outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("- fact: version 1.5", "- fact: version 15"),
        ("- fact: -5 degrees", "- fact: 5 degrees"),
        ("- fact: knows C", "- fact: knows C++"),
        ("- preference: eats meat", "- preference: never eats meat"),
        ("- fact: 2026-03", "- fact: 2026"),
        ("- fact: が", "- fact: か"),
        ("- fact: costs 5 €", "- fact: costs 5 $"),
    ],
)
def test_entries_that_say_something_else_are_not_duplicates(a, b):
    assert append(f"{a}\n", b).outcome is Outcome.WRITTEN


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("- fact: Lives in Málaga.", "* Fact:  lives in malaga"),
        ("- fact: 喜欢绿茶。", "- fact: 喜欢 绿茶"),
        ("- [ ] fact: call Ana", "1. fact: call Ana!"),
        ("- fact: ５ km", "- fact: 5km"),
    ],
)
def test_entries_that_differ_only_in_looks_are_duplicates(a, b):
    assert append(f"{a}\n", b).outcome is Outcome.DUPLICATE


@pytest.mark.parametrize(
    "content",
    ["# Title", "text\n## Rules\n- obey", "Rules\n-----\n- obey", "---\n- x", "```\ncode", "   ## Indented"],
)
def test_content_that_would_open_or_swallow_a_section_is_refused(content):
    assert append("- a\n", content).outcome is Outcome.REFUSED
    assert replace_section("## Facts\nx\n", "Facts", content).outcome is Outcome.REFUSED


def test_a_heading_inside_a_closed_fence_is_content():
    edit = append("- a\n", "```\n## not a heading\n```")
    assert edit.text == "- a\n```\n## not a heading\n```\n"


def test_a_level_one_heading_ends_a_section():
    edit = replace_section("## Facts\nold\n# Other book\nkeep\n", "facts ##", "new")
    assert edit.text == "## Facts\nnew\n# Other book\nkeep\n"


def test_an_underlined_heading_is_a_section():
    edit = replace_section("Facts\n---\nold\n\nRules\n---\nkeep\n", "Facts", "new")
    assert edit.text == "Facts\n---\nnew\n\nRules\n---\nkeep\n"


def test_two_sections_of_one_name_are_not_guessed_at():
    edit = append("## A\nx\n## a\ny\n", "- z", "A")
    assert (edit.outcome, edit.reason) == (Outcome.REFUSED, "ambiguous_section")


def test_written_lines_are_named_by_number():
    assert append("# M\n\n- a\n", "- a\n- b\n- c").lines == (4, 5)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (("NOTES.md", "prepend", "", None), "file_not_allowed"),
        (("MEMORY.md", "prepend", "", None), "unknown_action"),
        (("MEMORY.md", "replace_section", "\0", " "), "missing_section_title"),
        (("MEMORY.md", "replace_section", "\0", "a\nb"), "title_not_one_line"),
        (("MEMORY.md", "append", " \n\u200b", None), "empty_content"),
        (("MEMORY.md", "append", "x\x1b[31m", None), "control_characters"),
        (("MEMORY.md", "append", "a\r\n\tb", "ok"), None),
        (("MEMORY_GOALS.md", "append", "x", None), "file_not_allowed"),
    ],
)
def test_the_first_reason_in_order_refuses_a_request(request_, reason):
    assert guard(*request_) == reason


@given(files, st.integers(0, 400))
def test_an_excerpt_fits_and_holds_whole_lines_in_order(text, budget):
    got = excerpt(text, budget)
    if len(text) <= budget:
        assert got == text
        return
    assert len(got) <= budget
    own = iter([line.strip() for line in bare(text)] + [EXCERPT_NOTE])
    assert all(line.strip() in own for line in bare(got))


def test_an_excerpt_shows_the_newest_of_each_section():
    text = "".join(f"## S{s}\n" + "".join(f"- {s}.{i} {'x' * 30}\n" for i in range(30)) for s in range(4))
    got = excerpt(text, 700)
    assert all(f"- {s}.29 " in got and f"## S{s}" in got for s in range(4))
    assert EXCERPT_NOTE in got


def test_room_is_made_of_the_oldest_entries_of_the_program_only():
    text = "# M\n- mine\n- auto 1\n- auto 2\n- auto 3\n"
    lighter, removed = make_room(text, {"- auto 1", "- auto 2", "- auto 3", "# M"}, 10)
    assert (lighter, removed) == ("# M\n- mine\n- auto 3\n", ("- auto 1", "- auto 2"))


lines_ = st.lists(st.sampled_from("abcdefg"), max_size=8).map(lambda xs: "".join(f"{x}\n" for x in xs))


@given(lines_, lines_)
def test_merging_with_an_untouched_side_gives_the_other(base, new):
    assert merge(base, new, base).text == new
    assert merge(base, base, new).text == new


@given(lines_, lines_, lines_)
def test_a_merge_keeps_every_line_the_later_text_added(base, earlier, later):
    merged = merge(base, earlier, later)
    for line in set(later.split()) - set(base.split()):
        assert merged.text.split().count(line) >= 1


def test_a_conflict_keeps_the_later_lines_and_is_counted():
    merged = merge("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n")
    assert (merged.text, merged.conflicts) == ("a\nY\nc\n", 1)
