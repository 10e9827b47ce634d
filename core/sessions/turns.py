"""Messages of a conversation as turns and steps: where it may be cut.

Pure. A turn starts at a user's question and runs to the next; what stands before the first
question is a turn too. A step is an assistant's message with the tool results that follow it, so
that a call is never parted from its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MessageKey = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """A message reduced to what a cut may depend on."""

    id: MessageKey
    role: str  # user, assistant, tool
    tokens: int
    kind: str = ""  # tool_call, tool_result

    @property
    def is_result(self) -> bool:
        """Whether the message only brings a tool's result, in whatever role."""
        return self.role == "tool" or self.kind == "tool_result"

    @property
    def is_question(self) -> bool:
        """Whether the message starts a turn."""
        return self.role == "user" and not self.is_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as places in the list of messages: the question, if any, then its steps."""

    start: int
    end: int  # the place after its last message
    has_question: bool
    steps: tuple[int, ...]  # where each step starts

    def step_ranges(self) -> tuple[range, ...]:
        """Return the places of each step."""
        ends = (*self.steps[1:], self.end)
        return tuple(range(start, end) for start, end in zip(self.steps, ends, strict=False))


def read_turns(messages: Sequence[LiveMessage]) -> tuple[Turn, ...]:
    """Return the turns of a conversation, oldest first."""
    starts = [i for i, message in enumerate(messages) if message.is_question]
    if messages and (not starts or starts[0] > 0):
        starts.insert(0, 0)
    turns = []
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=False):
        has_question = messages[start].is_question
        first = start + 1 if has_question else start
        turns.append(Turn(start=start, end=end, has_question=has_question, steps=_find_steps(messages, first, end)))
    return tuple(turns)


def _find_steps(messages: Sequence[LiveMessage], first: int, end: int) -> tuple[int, ...]:
    steps: list[int] = []
    open_call = False  # a call whose result has not come yet
    for i in range(first, end):
        message = messages[i]
        if not steps or not (message.is_result or open_call):
            steps.append(i)
        open_call = message.kind == "tool_call" or (open_call and not message.is_result)
    return tuple(steps)


def count_tokens(messages: Sequence[LiveMessage], places: range) -> int:
    """Return the cost of a stretch of messages."""
    return sum(max(0, messages[i].tokens) for i in places)
