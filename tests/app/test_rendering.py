"""Text for the screen: made harmless, cut into pages, coloured, compared, and put into words."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rendering.code import highlight
from app.rendering.diff import DiffLine, LineKind, diff_lines
from app.rendering.display import clean, cut_page, one_line
from app.rendering.words import (
    ago,
    boundary,
    clock_time,
    duration,
    group_of,
    guard_summary,
    span,
    tokens_k,
)
from core.model import BoundaryReason, Decision, Section, Segment, SegmentId, SessionId, TurnId

NOW = datetime(2026, 11, 30, 15, 0).timestamp()
any_text = st.text(st.characters(codec=None, exclude_categories=[]))


@given(any_text)
def test_cleaned_text_can_be_encoded_and_holds_no_control_characters(text):
    shown = clean(text)
    shown.encode("utf-8")
    assert not [c for c in shown if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or c == "\ufdd0"]


def test_ordinary_text_is_left_alone():
    text = "Привет, 世界! مرحبا 👨‍👩‍👧 e\u0301\ttab\nline"
    assert clean(text) == text


def test_control_characters_become_visible_signs_and_line_ends_one_kind():
    assert clean("a\x00b\r\nc\rd\u2028e\ud800") == "a␀b\nc\nd\ne\N{REPLACEMENT CHARACTER}"


def test_one_line_flattens_and_limits():
    assert one_line("a\n  b\t c", 5) == "a b c"
    assert one_line("a\n  b\t c", 4) == "a b…"
    assert one_line("a" * 9, 4) == "aaa…"
    assert "\n" not in one_line("x\n" * 1_000)


@given(st.text(max_size=400))
def test_pages_join_to_the_whole(text):
    page, rest = cut_page(text, 100)
    assert page + rest == text
    assert len(page) <= 100
    assert page or not text


def test_a_page_ends_at_a_line_end_where_one_is_near():
    page, _ = cut_page("line\n" * 10_000)
    assert page.endswith("\n")


@given(st.text("abπ😀 ='\"#\n", max_size=200))
def test_spans_lie_inside_the_text_in_order(text):
    units = len(text.encode("utf-16-le")) // 2
    end = 0
    for piece in highlight(text, "python"):
        assert piece.start >= end
        end = piece.start + piece.length
    assert end <= units


def test_code_is_coloured_by_language_and_unknown_languages_stay_plain():
    kinds = {span.kind for span in highlight('def f():\n    return "x"  # why\n', "python")}
    assert {"keyword", "string", "comment"} <= kinds
    assert highlight("def f(): pass", "no-such-language") == ()
    assert highlight("x = 1\n" * 100_000, "python") == ()


lines = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(lines, lines)
def test_a_difference_can_be_read_both_ways(old, new):
    shown = diff_lines("\n".join(old), "\n".join(new), context=100)
    if shown:
        assert [line.text for line in shown if line.kind is not LineKind.ADDED] == "\n".join(old).splitlines()
        assert [line.text for line in shown if line.kind is not LineKind.REMOVED] == "\n".join(new).splitlines()
    else:
        assert "\n".join(old).splitlines() == "\n".join(new).splitlines()


def test_unchanged_stretches_are_folded():
    before = "".join(f"line {i}\n" for i in range(50))
    shown = diff_lines(before, before.replace("line 20\n", "line twenty\n"), context=1)
    assert shown == (
        DiffLine(LineKind.SKIPPED, "19 unchanged lines"),
        DiffLine(LineKind.SAME, "line 19"),
        DiffLine(LineKind.REMOVED, "line 20"),
        DiffLine(LineKind.ADDED, "line twenty"),
        DiffLine(LineKind.SAME, "line 21"),
        DiffLine(LineKind.SKIPPED, "28 unchanged lines"),
    )


@pytest.mark.parametrize(
    ("hours", "group"), [(0, "Today"), (14.9, "Today"), (15.1, "Yesterday"), (24 * 7, "Last week"), (24 * 9, "Earlier")]
)
def test_conversations_are_grouped_by_local_day(hours, group):
    assert group_of(NOW - hours * 3_600, False, NOW) == group
    assert group_of(NOW - hours * 3_600, True, NOW) == "Pinned"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-500, "just now"), (3, "just now"), (120, "2 min ago"), (3 * 3_600, "3 h ago"), (86_400 * 2, "Sat 15:00")],
)
def test_ago(seconds, text):
    assert ago(NOW - seconds, NOW) == text


def test_clock_times_name_what_is_needed():
    assert clock_time(NOW - 60, NOW) == "14:59"
    assert clock_time(NOW - 86_400 * 30, NOW) == "31 Oct, 15:00"
    assert clock_time(NOW - 86_400 * 400, NOW).endswith("2025, 15:00")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(840, "14 minutes"), (3_600, "1 hour"), (59 * 60, "1 hour"), (90_000, "1 day"), (0.2, "1 second")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize("reason", list(BoundaryReason))
def test_every_boundary_reason_has_words(reason):
    segment = Segment(
        id=SegmentId("s"), session_id=SessionId("c"), first_turn=TurnId(1), last_turn=TurnId(2), turn_count=2,
        started_at=0, ended_at=None, is_open=True, opened_by=reason, gap_s=840, title="", summary="",
    )  # fmt: skip
    assert boundary(segment)
    assert reason.value not in boundary(segment)


def test_guard_summary_counts_and_gives_the_reason_of_what_was_restored():
    decisions = (
        Decision(
            section=Section.FACTS, asked="APPEND", applied="APPEND", reason="one was there already", skipped=("x",)
        ),
        Decision(section=Section.ISSUES, asked="UPDATE", applied="UPDATE", reason="still open", restored=("a", "b")),
    )
    assert guard_summary(decisions) == ("2 restored, 1 left out.", "still open")
    assert guard_summary(()) == ("", "")


@pytest.mark.parametrize(("tokens", "text"), [(980, "980"), (3_700, "3.7k"), (8_000, "8k"), (4_096, "4k")])
def test_token_counts_are_short(tokens, text):
    assert tokens_k(tokens) == text


@pytest.mark.parametrize(
    ("end", "text"),
    [(None, "12:00"), (5.0, "12:00"), (60.0, "12:00 to 12:01")],
)
def test_a_span_names_the_day_once_and_one_minute_once(end, text):
    start = datetime(2026, 3, 6, 12, 0).timestamp()
    assert span(start, None if end is None else start + end, start) == text


def test_a_span_on_another_day_names_it_once():
    start = datetime(2026, 3, 6, 12, 0).timestamp()
    assert span(start, start + 600, start + 20 * 86_400) == "6 Mar, 12:00 to 12:10"
