"""The token estimate: its price list, its speed path, and what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import estimate_tokens, truncate_tokens

anything = st.text(st.characters(), max_size=300)  # lone surrogates included


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (None, 0),
        ("", 0),
        ("ab", 1),
        ("abcde", 2),
        ("今天下午三点和房东签合同", 18),
        ("你好，", 5),
        ("café ✅ 🚀", 4),
        ("Ω" * 4, 2),
        ("Ệ" * 4, 1),
        ("회의", 3),
        ("ﾊﾝ", 3),
        ("𠀀", 2),
        ("\ud800" * 4, 1),
    ],
)
def test_each_script_has_its_price(text, tokens):
    assert estimate_tokens(text) == tokens


def test_fast_path_agrees_with_single_characters_over_all_of_unicode():
    for start in range(0, 0x110000, 0x1000):
        chunk = "".join(map(chr, range(start, start + 0x1000)))
        # Four copies of one character cost whole tokens or halves, so that sums can be compared.
        assert estimate_tokens(chunk * 4) == sum(estimate_tokens(c * 4) for c in chunk)


@given(anything, anything)
def test_estimate_is_additive_within_one_and_monotone(a, b):
    whole, parts = estimate_tokens(a + b), estimate_tokens(a) + estimate_tokens(b)
    assert 0 <= parts - whole <= 1
    assert whole >= max(estimate_tokens(a), estimate_tokens(b))


@given(anything, st.integers(-2, 90))
def test_truncated_text_never_costs_more_than_the_budget(text, budget):
    cut = truncate_tokens(text, budget)
    assert estimate_tokens(cut) <= max(0, budget)
    if estimate_tokens(text) <= budget:
        assert cut == text
    else:
        head, mark, tail = cut.partition("\n…\n")
        assert text.startswith(head)
        assert not mark or text.endswith(tail)


def test_truncation_keeps_most_of_the_head_and_some_of_the_tail():
    text = "a" * 500 + "b" * 500
    head, _, tail = truncate_tokens(text, 100).partition("\n…\n")
    assert set(head) == {"a"}
    assert set(tail) == {"b"}
    assert 290 <= len(head) <= 300
    assert 97 <= len(tail) <= 100
