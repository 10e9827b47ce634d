"""Where a commit cuts: at questions, else at steps, and never between a call and its result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sessions.split import split_messages
from core.sessions.turns import LiveMessage, count_tokens, read_turns

CODES = {
    "u": ("user", ""),
    "a": ("assistant", ""),
    "c": ("assistant", "tool_call"),
    "r": ("tool", "tool_result"),
}


def talk(letters: str, tokens: int | list[int] = 10) -> list[LiveMessage]:
    """Messages by letter, with their place as id."""
    costs = tokens if isinstance(tokens, list) else [tokens] * len(letters)
    return [
        LiveMessage(id=i, role=CODES[letter][0], kind=CODES[letter][1], tokens=cost)
        for i, (letter, cost) in enumerate(zip(letters, costs, strict=True))
    ]


CASES = {
    "keep nothing": ("uaua", 0, None, [0, 1, 2, 3], [], []),
    "all inside": ("uaua", 4, None, [], [0, 1, 2, 3], []),
    "at a question": ("uauaua", 4, None, [0, 1], [2, 3, 4, 5], []),
    "back to the question": ("uauaua", 3, None, [0, 1], [2, 3, 4, 5], []),
    "long turn at a step": ("uaaaaaaa", 2, None, [0, 1, 2, 3, 4, 5], [0, 6, 7], [0]),
    "call stays with its result": ("uaaaacr", 1, None, [0, 1, 2, 3, 4], [0, 5, 6], [0]),
    "calls in a row share a step": ("uaaaaccrr", 2, None, [0, 1, 2, 3, 4], [0, 5, 6, 7, 8], [0]),
    "tail drops whole turns": ("uauaua", 10, 25, [0, 1, 2, 3], [4, 5], []),
    "tail cuts the newest turn": ("uauaaa", 10, 30, [0, 1, 2, 3], [2, 4, 5], [2]),
    "tail keeps the last step at least": ("uaua", 10, 5, [0, 1, 2], [2, 3], [2]),
    "question without reply": ("uau", 10, 5, [0, 1], [2], []),
}


@pytest.mark.parametrize(("letters", "keep", "tail", "archive", "kept", "copied"), CASES.values(), ids=CASES)
def test_rule(letters, keep, tail, archive, kept, copied):
    split = split_messages(talk(letters), keep, tail)
    assert (list(split.archive_ids), list(split.keep_ids), list(split.copied_ids)) == (archive, kept, copied)


talks = st.lists(st.tuples(st.sampled_from("uacr"), st.integers(0, 50)), max_size=40)


@given(talks, st.integers(0, 12), st.none() | st.integers(0, 400))
def test_nothing_is_lost_or_doubled_but_the_copied_question(steps, keep, tail):
    messages = talk("".join(letter for letter, _ in steps), [cost for _, cost in steps])
    split = split_messages(messages, keep, tail)
    kept = list(split.keep_ids[len(split.copied_ids) :])
    assert [*split.archive_ids, *kept] == [message.id for message in messages]
    assert set(split.copied_ids) <= set(split.archive_ids)
    assert list(split.keep_ids[: len(split.copied_ids)]) == list(split.copied_ids)
    if kept and len(split.archive_ids) < len(messages):
        first = messages[kept[0]]
        assert not first.is_result or kept[0] == 0 or messages[kept[0] - 1].kind != "tool_call"


@given(talks, st.integers(1, 12), st.integers(0, 400))
def test_kept_part_is_within_the_tail_budget_unless_one_step_is_larger(steps, keep, tail):
    messages = talk("".join(letter for letter, _ in steps), [cost for _, cost in steps])
    split = split_messages(messages, keep, tail)
    cost = sum(messages[i].tokens for i in split.keep_ids)
    if cost > tail:
        newest = read_turns(messages)[-1]
        last = newest.step_ranges()[-1] if newest.steps else range(newest.start, newest.end)
        least = count_tokens(messages, last)
        assert len(split.keep_ids) <= len(last) + 1
        assert cost >= least


@given(talks, st.integers(1, 12))
def test_the_window_is_kept_and_at_most_as_much_again(steps, keep):
    messages = talk("".join(letter for letter, _ in steps), [cost for _, cost in steps])
    split = split_messages(messages, keep)
    kept = split.keep_ids[len(split.copied_ids) :]
    assert len(kept) >= min(keep, len(messages))
    if split.archive_ids and not split.copied_ids and kept:
        first = messages[kept[0]]
        starts = {turn.start for turn in read_turns(messages)}
        in_steps = {step for turn in read_turns(messages) if not turn.has_question for step in turn.steps}
        assert first.is_question or kept[0] in starts | in_steps


@given(talks, st.lists(st.integers(0, 12), min_size=1, max_size=6), st.none() | st.integers(0, 400))
def test_commit_after_commit_archives_every_message_in_order(steps, keeps, tail):
    messages = talk("".join(letter for letter, _ in steps), [cost for _, cost in steps])
    live, archived = messages, []
    for keep in [*keeps, 0]:
        split = split_messages(live, keep, tail)
        copied = set(split.copied_ids)
        archived += [i for i in split.archive_ids if i not in copied]
        live = [message for message in live if message.id in set(split.keep_ids)]
        assert sorted([*archived, *(message.id for message in live)]) == [message.id for message in messages]
    assert live == []
