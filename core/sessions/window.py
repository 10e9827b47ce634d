"""The live window: what is pending, what is live, and when a commit is due.

Pure. The newest `keep` messages form the window; what was pushed out of it is pending. Running
and rebuilt values are always equal.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MAX_KEEP = 10_000  # messages
KEEP_AFTER_TURN = 10
DEFAULT_RATIO = 0.5  # of the session's share of the model's window
ASK_AGAIN_PERCENT = 10  # of the budget that live tokens must grow by after a commit that had nothing to do


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Counters of one conversation's live messages."""

    keep: int
    inside: tuple[int, ...] = ()  # estimates of the newest `keep` messages, oldest first
    pending_tokens: int = 0
    live_tokens: int = 0

    def append(self, tokens: object) -> "Window":
        """Return the window after one more message."""
        cost = read_estimate(tokens)
        inside = (*self.inside, cost)
        pushed_out = 0
        if len(inside) > self.keep:
            pushed_out, inside = inside[0], inside[1:]
        return Window(
            keep=self.keep,
            inside=inside,
            pending_tokens=self.pending_tokens + pushed_out,
            live_tokens=self.live_tokens + cost,
        )

    def is_due(self, budget_tokens: int, ratio: float = DEFAULT_RATIO) -> bool:
        """Say whether a commit is due: pending or live tokens at or above budget x ratio."""
        limit = budget_tokens * ratio
        return self.live_tokens > 0 and max(self.pending_tokens, self.live_tokens) >= limit

    def may_ask_again(self, refused_at_tokens: int | None, budget_tokens: int) -> bool:
        """Say whether to ask for a commit after one that had nothing to archive.

        `refused_at_tokens` are the live tokens at that time, None if there was none.
        """
        if refused_at_tokens is None:
            return True
        return (self.live_tokens - refused_at_tokens) * 100 >= budget_tokens * ASK_AGAIN_PERCENT


def read_keep(value: object) -> int:
    """Return a number of messages to keep, clamped to 0..10000; what is no number counts as 0."""
    return min(MAX_KEEP, read_estimate(value))


def read_estimate(value: object) -> int:
    """Return a token estimate; null, negative and other bad values count as 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, int(value))


def load_window(estimates: Iterable[object], keep: object) -> Window:
    """Rebuild the counters from the estimates of all live messages, oldest first."""
    costs = [read_estimate(value) for value in estimates]
    size = read_keep(keep)
    outside = max(0, len(costs) - size)
    return Window(
        keep=size,
        inside=tuple(costs[outside:]),
        pending_tokens=sum(costs[:outside]),
        live_tokens=sum(costs),
    )
