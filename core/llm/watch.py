"""Is the model process still there? A beat every few seconds, and what its answers say.

A process hangs if it answers no beat, if it computes for long without using a processor (a deadlock), or if it does not
stop when told to. A slow computation is none of these. Pure but for the beats it is given; times are monotonic seconds.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait, in seconds."""

    beat_s: float = 2.0
    silence_s: float = 20.0  # without an answer to any beat; a busy machine may starve a process for seconds
    first_silence_s: float = 90.0  # before its first answer: a cold disk, a virus scanner
    idle_computing_s: float = 30.0  # computing without using a processor
    stopping_s: float = 8.0  # from a cancellation to its end


IDLE_SHARE = 0.02  # of one processor: less is no computation


class HangWatch:
    """What is known of one process's liveliness."""

    def __init__(self, patience: Patience, now_s: float) -> None:
        self._patience = patience
        self._heard_s = now_s
        self._heard_once = False
        self._unanswered = 0  # beats sent since something was heard
        self._idle_since_s: float | None = None
        self._cpu_s = 0.0
        self._cancelled: dict[int, float] = {}  # when requests were told to end

    def hear(self, now_s: float) -> None:
        """Something came from the process."""
        self._heard_s, self._heard_once, self._unanswered = now_s, True, 0

    def take_answer(self, now_s: float, *, computing_s: float, cpu_s: float) -> None:
        """Note an answer to a beat: how long the running computation takes, and the processor time used so far."""
        elapsed_s = max(now_s - self._heard_s, 1e-3)
        idle = computing_s > 0 and cpu_s - self._cpu_s < IDLE_SHARE * elapsed_s
        self._idle_since_s = (self._idle_since_s or now_s) if idle else None
        self._cpu_s = cpu_s
        self.hear(now_s)

    def cancel(self, number: int, now_s: float) -> None:
        """A request was told to end."""
        self._cancelled.setdefault(number, now_s)

    def end(self, number: int) -> None:
        """A request has ended."""
        self._cancelled.pop(number, None)

    def beat(self, now_s: float) -> str:
        """Note that a beat is sent; return why the process is given up, as the end of a sentence, or ""."""
        self._unanswered += 1
        limit_s = self._patience.silence_s if self._heard_once else self._patience.first_silence_s
        # counted in beats too: when our own loop stood still, the answers are still on their way
        if now_s - self._heard_s >= limit_s and self._unanswered > limit_s / self._patience.beat_s / 2:
            return f"it has not answered for {limit_s:.0f} s"
        if self._idle_since_s is not None and now_s - self._idle_since_s >= self._patience.idle_computing_s:
            return f"it has stood still for {self._patience.idle_computing_s:.0f} s in the middle of its work"
        if self._cancelled and now_s - min(self._cancelled.values()) >= self._patience.stopping_s:
            return f"it did not stop within {self._patience.stopping_s:.0f} s when it was told to"
        return ""
