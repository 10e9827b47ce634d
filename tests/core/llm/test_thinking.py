"""What of a reasoning model's text is thought, and what is answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.thinking import ThinkFilter, opens_thought, strip_thinking


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Hello.", "Hello."),
        ("<think>hm</think>\n\nHello.", "Hello."),
        ("<thinking>hm</thinking>Hello.", "Hello."),
        ("<THINK >hm</ think>Hello.", "Hello."),
        ("<think>a<think>b</think>c</think>Hello.", "Hello."),
        ("<think>never closed", ""),
        ("Hello.</think> World", "Hello.World"),
        ("One <think>x</think>two <think>y</think>three", "One two three"),
        ("<think></think>Hello.", "Hello."),
        ("a < b and <b>bold</b> and <thin", "a < b and <b>bold</b> and <thin"),
        ("I think so <thinker>", "I think so <thinker>"),
    ],
)
def test_thoughts_are_no_answer(text, answer):
    assert strip_thinking(text) == answer


def test_a_thought_that_the_prompt_began_ends_with_its_tag():
    thoughts = ThinkFilter(inside=True)
    assert thoughts.feed("so, hm</think>\n\n") == ("", "so, hm")
    assert thoughts.feed("  Hello.") == ("Hello.", "")


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", "<", "th", "ink>", "x", " ", "\n", "</"]),
        max_size=20,
    ),
    st.data(),
)
def test_it_does_not_matter_where_the_stream_is_cut(parts, data):
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    thoughts, answer = ThinkFilter(), ""
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        answer += thoughts.feed(text[start:end])[0]
    assert answer + thoughts.finish()[0] == strip_thinking(text)


@given(st.text(max_size=50).filter(lambda text: "<" not in text))
def test_text_without_tags_passes_at_once(text):
    assert ThinkFilter().feed(text) == (text, "")


@pytest.mark.parametrize(
    ("prompt", "opens"),
    [
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n", False),
        ("assistant\n<think>\n\n</think>\n\n", False),
    ],
)
def test_templates_may_open_the_thought_themselves(prompt, opens):
    assert opens_thought(prompt) is opens
