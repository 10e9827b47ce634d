"""Recovering damaged tool calls: what can be read is read, and nothing is invented."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Section
from core.working_memory.operations import KEEP, Append, Update
from core.working_memory.operations_schema import is_valid
from core.working_memory.recovery import keep_complete_lines, recover_operations
from tests.core.working_memory.strategies import documents, json_values

CALL = {
    "sections": {
        "Session Title": {"op": "KEEP"},
        "Current State": {"op": "UPDATE", "content": 'He said "stop", then {left}. 水管 [P1]'},
        "Task & Goals": {"op": "KEEP"},
        "Key Facts & Decisions": {"op": "APPEND", "items": ["dough rests 40 min", "it's \\done\n twice"]},
        "Files & Context": {"op": "KEEP"},
        "Errors & Corrections": {"op": "APPEND", "items": ["mixed up left, right"]},
        "Open Issues": {"op": "UPDATE", "content": "- a\n- b"},
    }
}


def recover(raw):
    found = recover_operations(raw)
    return dict(found.operations), set(found.truncated)


def test_whole_call_is_read_from_text_and_from_an_object():
    assert is_valid(CALL)
    for raw in (CALL, json.dumps(CALL), json.dumps(json.dumps(CALL)), {"arguments": json.dumps(CALL)}):
        operations, cut = recover(raw)
        assert len(operations) == 7
        assert not cut
        assert operations[Section.STATE] == Update('He said "stop", then {left}. 水管 [P1]')
        assert operations[Section.FACTS] == Append(("dough rests 40 min", "it's \\done\n twice"))


@given(st.integers(0, len(json.dumps(CALL, ensure_ascii=False))))
def test_call_cut_anywhere_gives_prefixes_of_what_was_said(length):
    whole, _ = recover(CALL)
    operations, cut = recover(json.dumps(CALL, ensure_ascii=False)[:length])
    for section, operation in operations.items():
        if section in cut and isinstance(operation, Update):
            assert whole[section].content.startswith(operation.content.rstrip("\\"))
        elif isinstance(operation, Append):
            assert whole[section].items[: len(operation.items)] == operation.items
        else:
            assert operation == whole[section]


@given(
    json_values | documents | st.text(alphabet="{}[]\"':,\\ Open Issues op UPDATE content“”：，\n</think>", max_size=80)
)
def test_nothing_raises_and_every_string_stands_in_the_input(raw):
    found = recover_operations(raw)
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    for operation in found.operations.values():
        strings = operation.items if isinstance(operation, Append) else (getattr(operation, "content", ""),)
        for piece in strings:
            for line in piece.split("\n"):
                assert line in text or line in text.replace("\\", "") or "\\" in text or "\r" in text


@pytest.mark.parametrize(
    "raw", ["[" * 100_000, '{"a":' * 50_000, '{"sections": ' * 3_000, "\\" * 10_000, "```" * 9_000]
)
def test_deep_or_long_damage_is_survived(raw):
    assert recover(raw) == ({}, set())


def test_thoughts_are_never_taken_for_a_call():
    text = '{"Open Issues": {"op": "UPDATE", "content": "x"}}</think>{"Open Issues": {"op": "KEEP"}}'
    assert recover(text)[0] == {Section.ISSUES: KEEP}


def test_text_beats_keep_and_appends_are_joined():
    text = (
        '{"Open Issues": {"op":"APPEND","items":["a"]}, "Open Issues": {"op":"KEEP"},'
        ' "待办": {"op":"append","items":["b"]}}'
    )
    assert recover(text)[0] == {Section.ISSUES: Append(("a", "b"))}


def test_cut_update_becomes_an_append_of_its_complete_lines():
    operations, cut = recover('{"Open Issues": {"op": "UPDATE", "content": "- one\\n- tw')
    assert cut == {Section.ISSUES}
    assert keep_complete_lines(operations[Section.ISSUES]) == Append(("- one",))


def test_unquoted_keys_comments_and_words_of_python_are_understood():
    text = (
        "{sections: {Open Issues: {op: 'APPEND', items: ['a', None, 'b']}, // last\n 'Current State': {'op': 'KEEP'}}}"
    )
    assert recover(text)[0] == {Section.ISSUES: Append(("a", "b")), Section.STATE: KEEP}
