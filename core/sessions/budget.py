"""The model's window in shares, and which messages fit into theirs.

Pure. All numbers are tokens. Messages are shown without a gap: newest question and newest step
always, then backwards for as long as whole steps and turns fit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.sessions.turns import LiveMessage, MessageKey, count_tokens, read_turns

LARGE_WINDOW_TOKENS = 80_000  # from here the answer's reserve is a share with a floor
LEAST_RESERVE_TOKENS = 20_000  # of a large window
MAX_ARCHIVE_TOKENS = 8_000
MAX_INSTRUCTION_TOKENS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How a window is divided, in tokens."""

    reserve: int  # for the answer
    archive: int  # for the Working Memory document
    instruction: int  # for everything the program says
    session: int  # for messages


def share_context(context_tokens: int) -> Shares:
    """Divide a window of `context_tokens`."""
    size = max(0, context_tokens)
    percent_15 = size * 15 // 100
    reserve = max(LEAST_RESERVE_TOKENS, percent_15) if size >= LARGE_WINDOW_TOKENS else size // 4
    archive = min(MAX_ARCHIVE_TOKENS, size // 5)
    instruction = min(MAX_INSTRUCTION_TOKENS, percent_15)
    return Shares(
        reserve=reserve,
        archive=archive,
        instruction=instruction,
        session=size - reserve - archive - instruction,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Which messages are shown, oldest first, and what that cost the others."""

    ids: tuple[MessageKey, ...] = ()
    left_out_ids: tuple[MessageKey, ...] = ()
    max_tokens: Mapping[MessageKey, int] = field(default_factory=dict)  # of those that are truncated

    @property
    def truncated_ids(self) -> tuple[MessageKey, ...]:
        """The ids of the messages that are cut."""
        return tuple(self.max_tokens)


def fit_messages(messages: Sequence[LiveMessage], budget_tokens: int) -> Fit:
    """Choose the messages that fit into `budget_tokens`."""
    turns = read_turns(messages)
    if budget_tokens <= 0 or not turns:
        return Fit(left_out_ids=tuple(message.id for message in messages))
    newest = turns[-1]
    question = range(newest.start, newest.start + 1) if newest.has_question else range(0)
    steps = newest.step_ranges()
    step = steps[-1] if steps else range(0)
    limits = _limit_newest(messages, question, step, budget_tokens)
    shown = {i for i in (*question, *step) if limits.get(i, 1) > 0}
    if not limits:
        left = budget_tokens - count_tokens(messages, question) - count_tokens(messages, step)
        older = [range(turn.start, turn.end) for turn in reversed(turns[:-1])]
        shown |= _go_back(messages, [*reversed(steps[:-1]), *older], left)
    return Fit(
        ids=tuple(message.id for i, message in enumerate(messages) if i in shown),
        left_out_ids=tuple(message.id for i, message in enumerate(messages) if i not in shown),
        max_tokens={messages[i].id: limit for i, limit in sorted(limits.items()) if i in shown},
    )


def _go_back(messages: Sequence[LiveMessage], parts: Iterable[range], left: int) -> set[int]:
    """The messages of the parts that fit, newest first, up to the first part that does not."""
    shown: set[int] = set()
    for part in parts:
        left -= count_tokens(messages, part)
        if left < 0:
            break
        shown |= set(part)
    return shown


def _limit_newest(messages: Sequence[LiveMessage], question: range, step: range, budget: int) -> dict[int, int]:
    """Limits of the messages that must be cut so that newest question and step share the budget."""
    asks, answers = count_tokens(messages, question), count_tokens(messages, step)
    if asks + answers <= budget:
        return {}
    half = budget // 2
    for_question = min(asks, max(half, budget - answers))
    limits = {i: for_question for i in question if asks > for_question}
    return limits | _level(messages, step, budget - for_question)


def _level(messages: Sequence[LiveMessage], places: range, room: int) -> dict[int, int]:
    """Limits for the longest messages of a step, all cut to one length, so that it fits `room`."""
    costs = {i: max(0, messages[i].tokens) for i in places}
    if sum(costs.values()) <= room:
        return {}
    left, waiting = room, sorted(costs, key=lambda i: costs[i])
    while waiting and costs[waiting[0]] * len(waiting) <= left:
        left -= costs[waiting.pop(0)]
    return {i: left // len(waiting) for i in waiting}
