"""Tool calls as model families write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.tool_calls import Tool, parse_tool_calls

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "weight": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}
TOOLS = [Tool(name="remember", schema=json.dumps(SCHEMA)), Tool(name="forget", schema='{"type": "object"}')]
CALL = '{"name": "remember", "arguments": {"text": "tea", "weight": 2}}'
LLAMA = '{"name": "remember", "parameters": {"text": "tea", "weight": 2}}'
ARGUMENTS = '{"text": "tea", "weight": 2}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",  # cut off after the call
        f"<think>\n<tool_call>not yet</tool_call>\n</think>\n<tool_call>{CALL}</tool_call>",
        "<tool_call>\n<function=remember>\n<parameter=text>\ntea\n</parameter>\n<parameter=weight>\n2\n</parameter>\n"
        "</function>\n</tool_call>",
        f"<|python_tag|>{LLAMA}<|eom_id|>",
        LLAMA,
        f"<function=remember>{ARGUMENTS}</function>",
        f"[TOOL_CALLS] [{CALL}]",
        f"[TOOL_CALLS][{CALL}]</s>",
        f"[TOOL_CALLS]remember[ARGS]{ARGUMENTS}",
        f"[TOOL_CALLS]remember[CALL_ID]abc123DEF[ARGS]{ARGUMENTS}",
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        json.dumps({"tool_calls": [{"id": "1", "function": {"name": "remember", "arguments": ARGUMENTS}}]}),
    ],
)
def test_a_call_is_found_in_the_forms_of_the_model_families(text):
    found = parse_tool_calls(text, TOOLS)
    assert found.problems == ()
    assert [(call.name, call.arguments, call.repaired) for call in found.calls] == [
        ("remember", {"text": "tea", "weight": 2}, False)
    ]
    assert "tea" not in found.text


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>",
        f"<tool_call>{CALL}<tool_call>{CALL}",
        f"<|python_tag|>{LLAMA}; {LLAMA}",
        f"[TOOL_CALLS] [{CALL}, {CALL}]",
        f"[TOOL_CALLS]remember[ARGS]{ARGUMENTS}[TOOL_CALLS]remember[ARGS]{ARGUMENTS}",
        f"{CALL}\n{CALL}",
    ],
)
def test_several_calls_come_in_their_order(text):
    assert [call.name for call in parse_tool_calls(text, TOOLS).calls] == ["remember", "remember"]


@pytest.mark.parametrize(
    "damaged",
    [
        '{"name": "remember", "arguments": {"text": "tea"',
        "{'name': 'remember', 'arguments': {'text': 'tea'}}",
        '{"name": "remember", "arguments": {"text": "tea",}}',
    ],
)
def test_damaged_calls_are_repaired_and_marked(damaged):
    (call,) = parse_tool_calls(f"<tool_call>{damaged}</tool_call>", TOOLS).calls
    assert (call.arguments, call.repaired) == ({"text": "tea"}, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '<tool_call>{"name": "explode", "arguments": {}}</tool_call>',
            "no tool 'explode'; known are: forget, remember",
        ),
        ('<tool_call>{"name": "remember", "arguments": {}}</tool_call>', "does not fit: 'text' is a required property"),
        ('<tool_call>{"name": "remember", "arguments": {"text": 3}}</tool_call>', "does not fit at text"),
        ('<tool_call>{"arguments": {"text": "x"}}</tool_call>', "no name"),
        ("<tool_call>remember tea</tool_call>", "no JSON object"),
    ],
)
def test_a_call_that_cannot_be_used_is_a_problem_in_words(text, said):
    found = parse_tool_calls(text, TOOLS)
    assert found.calls == ()
    assert said in found.problems[0]


@pytest.mark.parametrize(
    "text",
    ["", "I will remember that.", '{"name": "Anna", "age": 3}', "See [1] and {x}.", '```json\n{"name": "other"}\n```'],
)
def test_ordinary_answers_hold_no_call(text):
    assert parse_tool_calls(text, TOOLS) == parse_tool_calls(text, ())
    assert parse_tool_calls(text, TOOLS).calls == ()
    assert parse_tool_calls(text, TOOLS).text == text.strip()


def test_what_is_said_beside_the_call_is_kept():
    assert parse_tool_calls(f"Noted.\n<tool_call>{CALL}</tool_call>", TOOLS).text == "Noted."


def test_a_model_that_goes_round_in_circles_is_stopped():
    found = parse_tool_calls(f"<tool_call>{CALL}</tool_call>" * 100, TOOLS)
    assert len(found.calls) == 32
    assert "More than 32 calls" in found.problems[-1]


@given(st.text(alphabet="<>[]{}/\"':,_ tool_call[TOOL_CALLS]ARGS|python_tag function=remember", max_size=200))
def test_no_text_breaks_it(text):
    for call in parse_tool_calls(text, TOOLS).calls:
        assert call.name in {"remember", "forget"}


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=4))
def test_arguments_come_back_whole(arguments):
    call = json.dumps({"name": "forget", "arguments": arguments}, ensure_ascii=False)
    if "tool_call" in call or "think" in call.lower():
        return
    (found,) = parse_tool_calls(f"<tool_call>{call}</tool_call>", TOOLS).calls
    assert found.arguments == arguments
