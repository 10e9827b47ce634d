"""The memory tree's rules: nothing said is lost between chunks, and buffers are sealed when they are due."""

from hypothesis import given
from hypothesis import strategies as st

from core.archivist.tree import TreeMessage, admits, cut_chunks, is_due, prepare_input
from core.archivist.tree_text import open_messages, render_chunk, take_first_sentence
from core.model import Role
from core.text.tokens import estimate_tokens

TEXTS = st.text(st.sampled_from("ab 屋\n.#é"), max_size=400)


def say(*texts: str) -> list[TreeMessage]:
    roles = (Role.USER, Role.ASSISTANT)
    return [TreeMessage(turn=1 + i // 2, role=roles[i % 2], at=60.0 * i, text=text) for i, text in enumerate(texts)]


@given(st.lists(TEXTS, max_size=8), st.integers(4, 60))
def test_chunks_hold_everything_in_order_within_their_size(texts, size):
    messages = say(*texts)
    chunks = cut_chunks(messages, size)
    plain = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert plain == "".join("".join(text.split()) for text in texts)
    for chunk in chunks:
        assert chunk.tokens <= size
        assert chunk.partial == any(estimate_tokens(m.text) > size for m in messages if m.turn in chunk.turns) or (
            not chunk.partial and all(m in messages for m in chunk.messages)
        )


@given(st.lists(TEXTS, max_size=6))
def test_the_same_evidence_is_the_same_chunk(texts):
    assert [c.id for c in cut_chunks(say(*texts), 20)] == [c.id for c in cut_chunks(say(*texts), 20)]


def test_a_heading_inside_a_message_cuts_nothing():
    (chunk,) = cut_chunks(say("# One\n\ntext\n\n# Two\n\ntext", "fine"))
    assert chunk.turns == (1,)
    assert "# Two" in chunk.text


def test_replies_lose_markup_and_what_is_left_empty_is_skipped():
    cleaned = prepare_input(say("<think>mine</think>", "<think>hm</think>Yes.", "[IMAGE:a.png]", "  "))
    assert [m.text for m in cleaned] == ["<think>mine</think>", "Yes."]


def test_only_courtesy_is_left_out():
    assert not admits(say("thanks!", "You are welcome, here is a long answer about valves."))
    assert admits(say("I moved to Faro.", "ok"))
    assert admits(say("谢谢", "不客气", "我搬到法鲁了。"))


def test_buffers_are_due_by_number_size_or_age():
    assert is_due(0, items=1, tokens=50_000, oldest_days=0)
    assert not is_due(1, items=9, tokens=90_000, oldest_days=7)
    assert is_due(1, items=1, tokens=0, oldest_days=7.01)


def test_a_chunk_reads_as_markdown_with_turns_and_speakers():
    text = render_chunk("ab", "s1", say("How long?", "Two days."), partial=False)
    assert text.startswith('---\nchunk: "ab"\n')
    assert "## Turn 1 · user · 1970-01-01T00:00:00+00:00\n\nHow long?\n\n## Turn 1 · assistant" in text


def test_the_first_sentence_that_tells_something_stands_for_a_chunk():
    messages = say("Hi there! Thanks. Our boiler leaks at the valve.", "Close it.")
    assert take_first_sentence(open_messages(messages)) == "Our boiler leaks at the valve."
