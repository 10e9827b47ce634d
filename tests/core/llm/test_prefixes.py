"""Whose prefix is in the context, with a context that holds numbers instead of a model's state."""

import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.prefixes import Owner, Prefixes, count_common
from core.llm.state_files import StateFiles

ANNA, BEN, WORK = Owner("anna", True), Owner("ben", True), Owner("anna", False)
BIG = 1 << 20


class Context:
    """Its state of a token is the token."""

    def __init__(self):
        self.known = []
        self.context_tokens = 100
        self.copies = 0

    def copy_out(self):
        self.copies += 1
        return memoryview(array.array("i", self.known).tobytes())

    def copy_in(self, data, tokens):
        self.copies += 1
        assert array.array("i", bytes(data)).tolist() == tokens
        self.known = list(tokens)
        return True

    def rewind(self, length):
        del self.known[length:]
        return len(self.known)


def read(context, prefixes, owner, tokens):
    """Enter and evaluate; return what was reused."""
    reused = prefixes.enter(owner, tokens)
    assert context.known == tokens[:reused]
    context.known += tokens[reused:]
    return reused


def prompt(start, length=200):
    return list(range(start, start + length))


@pytest.fixture
def context():
    return Context()


def test_a_longer_prompt_of_the_same_conversation_copies_nothing(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    read(context, prefixes, ANNA, prompt(0, 100))
    assert read(context, prefixes, ANNA, prompt(0, 150)) == 100
    assert context.copies == 0


def test_the_same_prompt_again_leaves_its_last_token_to_be_read(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    read(context, prefixes, ANNA, prompt(0))
    assert read(context, prefixes, ANNA, prompt(0)) == 199


def test_conversations_take_turns_and_keep_their_prefixes(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    for owner, start in ((ANNA, 0), (BEN, 1000)):
        assert read(context, prefixes, owner, prompt(start)) == 0
    for _ in range(3):
        for owner, start in ((ANNA, 0), (BEN, 1000)):
            assert read(context, prefixes, owner, prompt(start)) == 199


def test_background_work_for_a_conversation_does_not_cost_its_chat_the_prefix(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    read(context, prefixes, ANNA, prompt(0))
    read(context, prefixes, WORK, prompt(5000))
    prefixes.restore_chat()
    assert context.known == prompt(0)
    copies = context.copies
    assert read(context, prefixes, ANNA, prompt(0, 220)) == 200
    assert context.copies == copies
    assert read(context, prefixes, WORK, prompt(5000, 210)) == 200


def test_a_new_conversation_begins_with_what_another_has_in_common(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    read(context, prefixes, ANNA, prompt(0))
    read(context, prefixes, BEN, prompt(1000))
    assert read(context, prefixes, Owner("new", True), [*prompt(0, 120), 7, 7]) == 120
    assert read(context, prefixes, ANNA, prompt(0)) == 199


def test_memory_is_bounded_and_background_prefixes_go_first(context):
    prefixes = Prefixes(context, kept_bytes=4 * 450)
    read(context, prefixes, ANNA, prompt(0))
    read(context, prefixes, WORK, prompt(5000))
    read(context, prefixes, BEN, prompt(1000))
    read(context, prefixes, Owner("new", True), prompt(9000))
    assert read(context, prefixes, ANNA, prompt(0)) == 199
    assert read(context, prefixes, WORK, prompt(5000)) == 0


def test_requests_of_no_conversation_leave_nothing_behind(context):
    prefixes = Prefixes(context, kept_bytes=BIG)
    read(context, prefixes, Owner("", True), prompt(0))
    read(context, prefixes, BEN, prompt(1000))
    assert read(context, prefixes, Owner("", True), prompt(0)) == 0


def test_the_first_message_after_a_restart_finds_its_prefix(context, tmp_path):
    prefixes = Prefixes(context, kept_bytes=BIG, files=StateFiles(tmp_path, "m"))
    read(context, prefixes, ANNA, prompt(0))
    read(context, prefixes, BEN, prompt(1000))
    read(context, prefixes, WORK, prompt(5000))
    assert prefixes.unsaved
    prefixes.save()
    assert not prefixes.unsaved
    later = Context()
    again = Prefixes(later, kept_bytes=BIG, files=StateFiles(tmp_path, "m"))
    assert read(later, again, ANNA, prompt(0, 220)) == 200
    assert read(later, again, BEN, prompt(1000, 220)) == 200
    assert read(later, again, WORK, prompt(5000)) == 0
    assert not again.unsaved


def test_a_forgotten_conversation_leaves_nothing_anywhere(context, tmp_path):
    prefixes = Prefixes(context, kept_bytes=BIG, files=StateFiles(tmp_path, "m"))
    read(context, prefixes, WORK, prompt(5000))
    read(context, prefixes, Owner("anna-recap", False), prompt(7000))
    read(context, prefixes, ANNA, prompt(0))
    prefixes.save()
    prefixes.forget("anna")
    assert context.known == []
    assert list(tmp_path.iterdir()) == []
    prefixes.restore_chat()
    prefixes.save()
    assert list(tmp_path.iterdir()) == []
    for start in (5000, 7000, 0):
        assert read(context, prefixes, ANNA, prompt(start)) == 0


@given(st.lists(st.integers(0, 2), max_size=30), st.lists(st.integers(0, 2), max_size=30))
def test_the_common_beginning_is_counted(first, second):
    length = count_common(first, second)
    assert first[:length] == second[:length]
    assert length == min(len(first), len(second)) or first[length] != second[length]


@given(
    st.lists(
        st.tuples(st.sampled_from([ANNA, BEN, WORK]), st.integers(0, 3), st.integers(1, 120), st.booleans()),
        max_size=30,
    ),
    st.integers(0, 2000),
)
def test_whatever_happens_the_context_holds_the_prompts_beginning(steps, kept_bytes):
    context = Context()
    prefixes = Prefixes(context, kept_bytes=kept_bytes)
    for owner, start, length, forgets in steps:
        tokens = [*prompt(0, 40), *prompt(start * 1000, length)]
        read(context, prefixes, owner, tokens)
        if forgets:
            prefixes.forget(owner.conversation)
        prefixes.restore_chat()
