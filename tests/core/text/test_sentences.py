"""Sentences: what ends one, what does not, and that no word is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import split_clauses, split_sentences

CASES = {
    "titles, initials, hours": (
        "Dr. Smith met J. Doe at 4 p.m. in St. Louis. It was 3.5 km.",
        ["Dr. Smith met J. Doe at 4 p.m. in St. Louis.", "It was 3.5 km."],
    ),
    "file names and versions": (
        "Open main.py. It needs 1.2.3. See https://a.b/c. Ok.",
        ["Open main.py.", "It needs 1.2.3.", "See https://a.b/c.", "Ok."],
    ),
    "chat without capitals": ("i went home. then i slept.", ["i went home.", "then i slept."]),
    "abbreviations": ("Use a list, e.g. this one. Fine.", ["Use a list, e.g. this one.", "Fine."]),
    "numbering": ("Locker No. 14 is free. No. Go.", ["Locker No. 14 is free.", "No.", "Go."]),
    "German ordinal": ("Das war am 3. Mai. Danke.", ["Das war am 3. Mai.", "Danke."]),
    "Chinese stops and quotes": (
        "今天很好。明天呢？“走吧！”他说。好",
        ["今天很好。", "明天呢？", "“走吧！”", "他说。", "好"],
    ),
    "list markers and lines": ("1. Foo. Bar\n- baz", ["Foo.", "Bar", "baz"]),
    "ellipsis": ("Wait... what? Well... Then.", ["Wait... what?", "Well...", "Then."]),
    "fence stays whole": ("run:\n```\nx = 1. Y\n```\nDone.", ["run:", "```\nx = 1. Y\n```", "Done."]),
    "nothing": (" \n\n", []),
}


@pytest.mark.parametrize(("text", "sentences"), CASES.values(), ids=CASES)
def test_splitting(text, sentences):
    assert list(split_sentences(text)) == sentences


def test_clauses_end_at_semicolons_too():
    assert split_clauses("Rent is 900; deposit 1800；好。行") == ("Rent is 900", "deposit 1800", "好。", "行")


@given(st.text(st.sampled_from('ab B.!?。？！ \n"”3;'), max_size=60))
def test_no_letter_is_lost_and_order_is_kept(text):
    joined = "".join(split_sentences(text))
    assert re.sub(r"[^abB]", "", joined) == re.sub(r"[^abB]", "", text)
