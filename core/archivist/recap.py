"""What a recap of a segment may cost, what becomes of it, and when it is tried again.

Pure (archivist.md section 10). A recap is polish: where none is usable the bookend stands in, marked
as what it is, and the segment waits for its next try. No recap ever becomes evidence.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from core.model import RecapSource

VERBATIM_BELOW_TOKENS = 80  # a shorter segment is its own recap
MIN_TOKENS, MAX_TOKENS = 48, 512
DEADLINE_S = 90.0
BOOKEND_CHARACTERS = 200
RETRIED_AFTER_SUCCESS = 3
BACKOFF_S = (60.0, 600.0, 3_600.0, 6 * 3_600.0, 24 * 3_600.0)  # then daily

_SEPARATOR = re.compile(r"(?<!\S)\|(?!\S)")


class Trigger(StrEnum):
    """What makes the program look for recaps that are due."""

    RECAP_OK = "recap_ok"
    RECAP_FAILED = "recap_failed"
    STARTUP = "startup"
    TIMER = "timer"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapBudget:
    """How a segment is summed up, and in how many tokens (0: its turns are its recap)."""

    mode: Literal["verbatim", "model"]
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapOutcome:
    """What is done with what a model wrote."""

    usable: bool
    source: RecapSource
    status: Literal["summarised", "closed"]
    embed: bool
    retry: bool
    to_tree: bool = False  # evidence only: never a recap, whoever made it


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRecap:
    """A closed segment without a usable recap; times in s, `next_try_at` None: at once."""

    id: str
    closed_at: float
    next_try_at: float | None


def plan_budget(input_tokens: int) -> RecapBudget:
    """Return how a segment of so many tokens (estimate) is summed up: in a quarter of its length."""
    if input_tokens < VERBATIM_BELOW_TOKENS:
        return RecapBudget(mode="verbatim", max_tokens=0)
    return RecapBudget(mode="model", max_tokens=min(MAX_TOKENS, max(MIN_TOKENS, -(-input_tokens // 4))))


def write_bookend(first: str, last: str, turns: int, sentences: Sequence[str] = ()) -> str:
    """Return the placeholder: how a segment began and ended, then sentences of it, a line each."""
    begins, ends = _quote(first), _quote(last)
    begins, ends = (begins, ends) if begins else (ends, "")
    line = f"Conversation segment ({turns} {'turn' if turns == 1 else 'turns'}). Started with: {begins}"
    if ends and ends != begins:
        line += f" | Ended with: {ends}"
    return "\n".join((line, *sentences))


def decide_outcome(
    text: str | None, *, error: str | None, seconds: float, deadline_s: float = DEADLINE_S
) -> RecapOutcome:
    """Say what becomes of a model's text, whose unsupported sentences are out already (blank: none is left)."""
    if error is None and text is not None and text.strip() and seconds <= deadline_s:
        return RecapOutcome(usable=True, source=RecapSource.MODEL, status="summarised", embed=True, retry=False)
    return RecapOutcome(usable=False, source=RecapSource.HEURISTIC, status="closed", embed=False, retry=True)


def choose_due(pending: Sequence[PendingRecap], *, now: float, trigger: Trigger) -> tuple[str, ...]:
    """Return the ids of the recaps to try now, the longest waiting first.

    A success shows that a model is there, so three follow it; a start and the timer send one probe.
    """
    most = {Trigger.RECAP_OK: RETRIED_AFTER_SUCCESS, Trigger.RECAP_FAILED: 0}.get(trigger, 1)
    due = [each for each in pending if each.next_try_at is None or each.next_try_at <= now]
    return tuple(each.id for each in sorted(due, key=lambda each: each.closed_at)[:most])


def wait_after(attempts: int) -> float:
    """Return how long to wait after so many failed tries (1 or more), in s."""
    return BACKOFF_S[min(max(attempts, 1), len(BACKOFF_S)) - 1]


def _quote(text: str) -> str:
    """A message on one line, unable to forge the layout."""
    line = _SEPARATOR.sub("/", " ".join(text.split()))
    return line if len(line) <= BOOKEND_CHARACTERS else line[:BOOKEND_CHARACTERS] + "..."
