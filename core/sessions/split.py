"""Where a commit cuts the live messages: what is archived, what stays.

Pure. The cut falls at a question; only a turn that is too long is cut at a step, and then its
question stands on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.sessions.turns import LiveMessage, MessageKey, Turn, count_tokens, read_turns
from core.sessions.window import read_keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The two parts of a conversation, in order; a copied question is in both."""

    archive_ids: tuple[MessageKey, ...]
    keep_ids: tuple[MessageKey, ...]
    copied_ids: tuple[MessageKey, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cut:
    at: int  # place of the first message that stays
    question: int | None = None  # place of the question that is copied


def split_messages(
    messages: Sequence[LiveMessage], keep_recent_count: object, tail_budget_tokens: int | None = None
) -> Split:
    """Split at about `keep_recent_count` messages from the end, the kept part within the budget."""
    keep = read_keep(keep_recent_count)
    if keep == 0 or not messages:
        return Split(archive_ids=tuple(message.id for message in messages), keep_ids=())
    turns = read_turns(messages)
    cut = _cut_by_count(turns, len(messages), keep)
    if tail_budget_tokens is not None and _cost(messages, cut) > tail_budget_tokens:
        cut = _cut_by_tokens(messages, turns, cut, tail_budget_tokens)
    copied = () if cut.question is None else (messages[cut.question].id,)
    return Split(
        archive_ids=tuple(message.id for message in messages[: cut.at]),
        keep_ids=(*copied, *(message.id for message in messages[cut.at :])),
        copied_ids=copied,
    )


def _cost(messages: Sequence[LiveMessage], cut: _Cut) -> int:
    question = 0 if cut.question is None else max(0, messages[cut.question].tokens)
    return question + count_tokens(messages, range(cut.at, len(messages)))


def _cut_by_count(turns: Sequence[Turn], total: int, keep: int) -> _Cut:
    if total <= keep:
        return _Cut(0)
    raw = total - keep
    turn = next(turn for turn in turns if turn.start <= raw < turn.end)
    if raw == turn.start or total - turn.start <= 2 * keep:
        return _Cut(turn.start)
    return _cut_turn(turn, max(step for step in turn.steps if step <= raw))


def _cut_turn(turn: Turn, step: int) -> _Cut:
    return _Cut(step, turn.start if turn.has_question else None)


def _cut_by_tokens(messages: Sequence[LiveMessage], turns: Sequence[Turn], cut: _Cut, budget: int) -> _Cut:
    """Drop whole oldest turns from the kept part, then steps of the newest one."""
    newest = turns[-1]
    for turn in turns:
        if turn.start > cut.at and _cost(messages, _Cut(turn.start)) <= budget:
            return _Cut(turn.start)
    if not newest.steps:
        return _Cut(newest.start)
    for step in newest.steps:
        candidate = _cut_turn(newest, step)
        if step >= cut.at and _cost(messages, candidate) <= budget:
            return candidate
    return _cut_turn(newest, newest.steps[-1])
