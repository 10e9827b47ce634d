"""Markdown to blocks: what models write shows as meant, and arriving in pieces changes nothing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rendering.markdown import Block, Code, MarkdownStream, Prose, render

FRAGMENTS = [
    "word ", "two words\n", "\n", "\n\n", "- item\n", "1. first\n", "2) second\n", "# Title\n", "**bold** ", "*it",
    "`code` ", "```python\n", "```\n", "~~~\n", "    indented\n", "> quote\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "---\n", "===\n", "<script>alert(1)</script>", "[link](https://example.org) ", "![pic](x.png) ", "中文，", "😀",
    "  ```js\n", "\\", "&amp;", "````\n", "* * *\n",
]  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)


def flatten(blocks: tuple[Block, ...]) -> list[str | tuple[str, str]]:
    """Neighbouring prose joined: how it is cut into blocks is not visible."""
    flat: list[str | tuple[str, str]] = []
    for block in blocks:
        if isinstance(block, Code):
            flat.append((block.text, block.language))
        elif flat and isinstance(flat[-1], str):
            flat[-1] += block.html
        else:
            flat.append(block.html)
    return flat


@given(texts, st.data())
def test_arriving_in_pieces_ends_as_the_whole(text, data):
    stream = MarkdownStream()
    blocks: tuple[Block, ...] = ()
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 12))
        blocks += stream.feed(text[at : at + size]).finished
        at += size
    assert flatten(blocks + stream.finish().finished) == flatten(render(text))


@given(texts)
def test_what_is_finished_and_the_tail_together_show_the_whole(text):
    rendered = MarkdownStream().feed(text)
    assert flatten(rendered.finished + rendered.tail) == flatten(render(text))


@given(st.text())
def test_any_text_renders_without_raw_html(text):
    for block in render(text):
        if isinstance(block, Prose):
            assert "<script" not in block.html.lower()
            assert "<img" not in block.html.lower()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** *c* `d`", "<p>a <b>b</b> <i>c</i> <code>d</code></p>"),
        ("one\ntwo", "<p>one<br/>two</p>"),
        ("<b>x</b> & y", "<p>&lt;b&gt;x&lt;/b&gt; &amp; y</p>"),
        ("## Head", '<p class="h2">Head</p>'),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("[t](https://e.org/?a=1&b=2)", '<p><a href="https://e.org/?a=1&amp;b=2">t</a></p>'),
        ("[t](javascript:alert(1))", "<p>[t](javascript:alert(1))</p>"),
        ("[t](file:///etc/passwd)", "<p>[t](file:///etc/passwd)</p>"),
        ("![cat](https://e.org/c.png)", "<p>[picture: cat]</p>"),
    ],
)
def test_prose(text, html):
    assert render(text) == (Prose(html),)


def test_code_gets_its_own_block_with_language():
    blocks = render("before\n\n```Python title=x\nprint(1)\n\nprint(2)\n```\nafter")
    assert blocks == (Prose("<p>before</p>"), Code("print(1)\n\nprint(2)", "python"), Prose("<p>after</p>"))


def test_open_code_is_shown_while_it_arrives_and_its_half_closed_fence_is_not():
    stream = MarkdownStream()
    assert stream.feed("```sql\nselect 1;\nsel").tail == (Code("select 1;\nsel", "sql"),)
    assert stream.feed("ect 2;\n``").tail == (Code("select 1;\nselect 2;", "sql"),)
    assert stream.feed("`\n").finished == (Code("select 1;\nselect 2;", "sql"),)


def test_a_finished_block_is_handed_out_once_and_the_open_one_stays_open():
    stream = MarkdownStream()
    first = stream.feed("one\n\ntwo\n")
    assert first.finished == (Prose("<p>one</p>"),)
    assert first.tail == (Prose("<p>two</p>"),)
    second = stream.feed("more")
    assert second.finished == ()
    assert second.tail == (Prose("<p>two<br/>more</p>"),)


def test_a_line_that_is_still_arriving_finishes_nothing():
    """`*` may look like a list and turn out to be bold text of the item above."""
    stream = MarkdownStream()
    assert stream.feed("1. first\n*").finished == ()
    assert stream.feed("*bold**").tail == (Prose("<ol><li>first<br/><b>bold</b></li></ol>"),)


@pytest.mark.parametrize(
    "piece",
    ["word " * 4, "- a list item of some length\n", "x" * 20, "```\ncode line\n"],
    ids=["paragraph", "list", "no spaces", "fences"],
)
def test_a_huge_reply_costs_the_same_per_piece_at_its_end_as_at_its_start(piece):
    """A long reply in small pieces: the last fifty must not cost many times an early fifty."""
    stream = MarkdownStream()
    count = 16_000 // len(piece)
    for i in range(count):
        if i == 250:
            early_s = -time.perf_counter()
        if i == 300:
            early_s += time.perf_counter()
        if i == count - 50:
            late_s = -time.perf_counter()
        stream.feed(piece)
    late_s += time.perf_counter()
    assert late_s < 6 * early_s + 0.05
