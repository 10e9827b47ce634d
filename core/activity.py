"""What background work is doing, did and could not do: records for the Activity tab and the terminal."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.model import SessionId


class JobState(StrEnum):
    """Where a queued job stands."""

    RUNNING = "running"
    WAITING = "waiting"
    BACK_OFF = "back-off"  # it failed, or its time has not come; it is tried again by itself
    FAILED = "failed"  # it ran out of attempts


class Outcome(StrEnum):
    """How a piece of work ended."""

    DONE = "done"
    FAILED = "failed"  # it is tried again
    GAVE_UP = "gave up"
    TAKEN_OVER = "taken over"  # its process ended before it did


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """A job that is not done."""

    id: int
    kind: str
    session_id: SessionId
    title: str  # of the conversation
    state: JobState
    attempts: int
    due_at: float = 0.0  # s; 0: at once
    started_at: float = 0.0  # s; RUNNING
    owner: str = ""  # RUNNING: which process, in words
    progress: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneJob:
    """A piece of work that ended, newest first in lists. `times` counts like ones that were joined."""

    id: int
    at: float
    kind: str
    outcome: Outcome
    owner: str  # which process, in words
    session_id: SessionId | None = None
    title: str = ""
    took_s: float = 0.0
    times: int = 1
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """How many jobs of a kind there are in each state."""

    kind: str
    running: int = 0
    waiting: int = 0
    back_off: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSuccess:
    """When a step last got through, and in which process."""

    kind: str
    at: float
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is waiting or missing (archivist.md section 19)."""

    turns_waiting: int = 0
    twins_missing: int = 0
    turns_to_remember: int = 0
    recaps_missing: tuple[tuple[str, int], ...] = ()  # by cause, in words
    vectors_missing: int = 0
    jobs_in_back_off: int = 0
    refused_writes: int = 0
    tombstones: int = 0
    redactions: tuple[tuple[str, int], ...] = ()  # kind -> messages that hold such a mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """All that the Activity tab and `keepsake-jobs status` show."""

    running: tuple[QueuedJob, ...] = ()
    waiting: tuple[QueuedJob, ...] = ()  # back-off and plain waiting; the first ones
    failed: tuple[QueuedJob, ...] = ()
    counts: tuple[KindCount, ...] = ()
    recent: tuple[DoneJob, ...] = ()
    successes: tuple[StepSuccess, ...] = ()
    health: Health = field(default_factory=Health)

    @property
    def left(self) -> int:
        """How many jobs are neither done nor given up."""
        return sum(each.running + each.waiting + each.back_off for each in self.counts)

    @property
    def given_up(self) -> int:
        return sum(each.failed for each in self.counts)
