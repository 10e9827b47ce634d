"""Duplicates, fresh items and polarity: what says the same, what is new, what is the opposite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.keys import read_key
from core.text.normal_form import fresh_items, is_duplicate, is_pointer, is_resolved, item_key, normalise
from core.text.polarity import polarity

SAME = {
    "case and emphasis": ("- **Redis 7** in prod", "redis 7 in PROD"),
    "articles and stops": ("The backup server is NAS01.", "Backup server is NAS01"),
    "width and blanks": ("备份服务器 ：ＮＡＳ０１", "备份服务器：NAS01"),
    "plurals": ("all servers restarted", "all server restarted"),
    "tags and marks": ("[new] Rotate the key", "[resolved] Rotate the key"),
    "boxes": ("[x] Find a sitter", "Find a sitter ✅"),
    "stamp on one side": ("[2026-01-01] moved", "moved"),
    "struck through": ("~~fix the gutter~~", "fix the gutter"),
    "Chinese mark": ("【已解决】补发票", "补发票"),
}
DIFFERENT = {
    "shorter": ("Ana is allergic to nuts", "Ana is allergic to nuts and penicillin"),
    "negation": ("可以对外公开", "不可以对外公开"),
    "order": ("billing depends on auth", "auth depends on billing"),
    "number": ("Backup at 03:30", "Backup at 03:00"),
    "currency": ("costs $5", "costs 5"),
    "comparison": ("x > 5", "x < 5"),
    "sign": ("-5 °C", "5 °C"),
    "decimal": ("3.5", "3 5"),
    "two stamps": ("[2026-01-01] moved", "[2026-01-02] moved"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("a", "b"), SAME.values(), ids=SAME)
def test_the_same_in_another_dress_is_a_duplicate(a, b):
    assert is_duplicate(a, b)
    assert is_duplicate(b, a)


@pytest.mark.parametrize(("a", "b"), DIFFERENT.values(), ids=DIFFERENT)
def test_another_statement_is_none(a, b):
    assert not is_duplicate(a, b)
    assert not is_duplicate(b, a)


def test_a_first_line_is_a_duplicate_of_the_whole_and_not_the_other_way():
    assert is_duplicate("run:", "run:\n```\nx\n```")
    assert is_duplicate("packing:", "packing: tent")
    assert not is_duplicate("run:\n```\nx\n```", "run:")


def test_a_key_says_what_was_taken_off():
    key = read_key("- [restored] [2026-07-04] Call Ben [done]")
    assert (key.text, key.tags, key.stamp, key.resolved) == ("call ben", ("restored",), "2026-07-04", True)


@pytest.mark.parametrize("text", ["[done] a", "a [已解决]", "✅ a", "~~a~~", "[x] a", "[erledigt] a"])
def test_marks_at_the_ends_resolve(text):
    assert is_resolved(text)


@pytest.mark.parametrize("text", ["a", "[ ] a", "explain what [resolved] means here", "[new] a", "done with a"])
def test_other_marks_do_not(text):
    assert not is_resolved(text)


@given(st.text(max_size=60))
def test_the_normal_form_is_stable(text):
    once = normalise(text)
    assert normalise(once) == normalise(normalise(once))
    assert is_duplicate(text, text) or not item_key(text)


def test_fresh_items_come_without_markers_in_order_each_once():
    new = ["- Tea at six", "Tea at five", "tea at SIX.", "", "[⚠ CONSOLIDATION REQUIRED: x]"]
    assert fresh_items(new, "- tea at five") == ("Tea at six",)
    assert fresh_items("- a1\n- b1", "- B1") == ("a1",)


def test_a_line_whose_clauses_are_all_known_is_not_new():
    old = "- Rent is 900 EUR\n- Deposit is 1800 EUR"
    assert fresh_items(["Rent is 900 EUR; deposit is 1800 EUR"], old) == ()
    assert fresh_items(["Rent is 900 EUR; pets are fine"], old) == ("Rent is 900 EUR; pets are fine",)


@pytest.mark.parametrize(
    "line", ["All previous facts still hold.", "Everything else is unchanged", "其余内容不变", "以上仍然有效"]
)
def test_pointers_are_skipped_only_after_a_rejection(line):
    assert is_pointer(line)
    assert fresh_items([line], "- a") == (line,)
    assert fresh_items([line], "- a", rejected=True) == ()


@pytest.mark.parametrize("line", ["All servers in Frankfurt remain on v1.2.3", "The rest is silence", "meeting moved"])
def test_a_line_that_names_something_is_no_pointer(line):
    assert not is_pointer(line)


pieces = st.sampled_from(["- a b", "* A b.", "the a b", "c; d", "- c", "d", "### x", "[done] c", "", "  wrapped"])


@given(st.lists(pieces, max_size=8), st.lists(pieces, max_size=8))
def test_fresh_items_are_never_duplicates(new, old):
    body = "\n".join(old)
    fresh = fresh_items(new, body)
    assert fresh_items(fresh, "") == fresh
    assert all(fresh_items([item], body) == (item,) for item in fresh)
    assert not any(is_duplicate(a, b) for n, a in enumerate(fresh) for b in fresh[:n])


@pytest.mark.parametrize(
    ("text", "negations"),
    [
        ("She doesn't eat it and cannot have nuts", 2),
        ("Locker No. 14 is free", 0),
        ("味道不错，不过最近有点忙，别墅在无锡，未来非常好", 0),
        ("不要删除，也没有备份", 2),
        ("能不能改？", 0),
        ("Der Schlüssel darf nicht am 3. Mai", 1),
        ("il ne veut pas", 1),
        ("この部屋は使えません", 1),
        ("少ない", 0),
        ("안녕하세요", 0),
        ("안 먹어요", 1),
    ],
)
def test_negations_are_counted(text, negations):
    assert polarity(text).negations == negations


@pytest.mark.parametrize(
    ("text", "obliges"),
    [
        ("pay by Friday", True),
        ("必须住两晚", True),
        ("at most 80", True),
        ("a song by Queen", False),
        ("learn to whistle", False),
    ],
)
def test_obligation(text, obliges):
    assert polarity(text).obligation is obliges


def test_opposites():
    assert polarity("启用缓存").opposes(polarity("禁用缓存"))
    assert polarity("enabled cache").opposes(polarity("it disables the cache"))
    assert not polarity("enable").opposes(polarity("enable or disable"))
