"""Replies without thought and tool calls; everything else untouched."""

import time

import pytest

from core.text.markup import strip_image_markers, strip_tool_markup

CASES = {
    "closed span": ('Checking.\n<tool_call>{"n":1}</tool_call>\nDone.', "Checking.\n\nDone."),
    "nested thought": ("<think>a <think>b</think> c</think>\nUse it.", "Use it."),
    "thought with code": ("<think>a\n```\nx\n```\nb</think>\nAnswer", "Answer"),
    "unclosed thought": ("Hi <think>never", "Hi"),
    "unclosed call keeps prose": ('So: <tool_call>{"a": 1} and on\nnext', "So:  and on\nnext"),
    "JSON block alone": ('Result:\n{\n "tool_calls": [{"n": 1}]\n}\nAll good.', "Result:\n\nAll good."),
    "JSON of another kind": ('{"a": "tool_use"}', '{"a": "tool_use"}'),
    "field in prose": ('the field "tool_use" marks a call', 'the field "tool_use" marks a call'),
    "inside a fence": ("```\n<tool_call>{}</tool_call>\n```", "```\n<tool_call>{}</tool_call>\n```"),
    "image marker": ("See [IMAGE:a1] here", "See  here"),
    "nothing to do": ("Plain.\n\n\n\nSecond. ", "Plain.\n\n\n\nSecond. "),
}


@pytest.mark.parametrize(("reply", "stripped"), CASES.values(), ids=CASES)
def test_stripping(reply, stripped):
    assert strip_tool_markup(reply) == stripped


@pytest.mark.parametrize("reply", [reply for reply, _ in CASES.values()])
def test_stripping_twice_changes_nothing(reply):
    once = strip_tool_markup(reply)
    assert strip_tool_markup(once) == once


def test_users_lose_only_image_markers():
    assert strip_image_markers("<think>x</think> [IMAGE:1]") == "<think>x</think>"
    assert strip_image_markers("a \n\n\n b") == "a \n\n\n b"


@pytest.mark.parametrize("piece", ["<think>", "<tool_call>", "{\n", "[", "<think>```\n"])
def test_a_hostile_reply_is_read_in_a_moment(piece):
    start = time.perf_counter()
    strip_tool_markup(piece * 20_000 + '"tool_calls"')
    assert time.perf_counter() - start < 5
