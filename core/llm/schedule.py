"""Who is answered next in the model process: by priority, then by arrival; a chat interrupts background work.

Filled by the thread that reads the program's frames, emptied by the one that computes. Knows nothing of llama.cpp:
`interrupt` ends the computation that runs, `clear` lets the next one run.
"""

import heapq
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from core.llm.answers import Step, Turn
from core.llm.frames import Frame
from core.llm.port import ChoiceScores, GenerationEnd

Steps = Generator[Step, None, GenerationEnd | ChoiceScores | None]


@dataclass(slots=True, eq=False)
class Task:
    """One request on its way to its answer."""

    number: int
    priority: int
    frame: Frame
    cancelled: bool = False
    turn: Turn | None = None  # once it has begun
    steps: Steps | None = field(default=None, repr=False)


class Schedule:
    """The tasks that wait, and the one that runs."""

    def __init__(self, *, interrupt: Callable[[], None], clear: Callable[[], None]) -> None:
        self._interrupt, self._clear = interrupt, clear
        self._changed = threading.Condition()  # guards all below
        self._waiting: list[tuple[int, int, Task]] = []
        self._running: Task | None = None
        self._stopping = False

    def put(self, task: Task) -> None:
        """Add a task; one that is less urgent is interrupted for it."""
        with self._changed:
            heapq.heappush(self._waiting, (task.priority, task.number, task))
            if self._running is not None and task.priority < self._running.priority:
                self._interrupt()
            self._changed.notify()

    def cancel(self, number: int) -> Task | None:
        """Cancel a task; return it if it waits, and so will not be run again. The one that runs ends itself."""
        with self._changed:
            if self._running is not None and self._running.number == number:
                self._mark(self._running)
                self._interrupt()
                return None
            for entry in self._waiting:
                if entry[2].number == number:
                    self._waiting.remove(entry)
                    heapq.heapify(self._waiting)
                    self._mark(entry[2])
                    return entry[2]
        return None

    def _mark(self, task: Task) -> None:
        task.cancelled = True
        if task.turn is not None:
            task.turn.cancelled = True

    def take(self, timeout_s: float | None) -> Task | None:
        """Return the next task, which runs from now on; None after `timeout_s`, or when all is to stop."""
        with self._changed:
            self._running = None
            self._changed.wait_for(lambda: self._waiting or self._stopping, timeout_s)
            self._clear()
            if self._stopping or not self._waiting:
                return None
            self._running = heapq.heappop(self._waiting)[2]
            return self._running

    def begin(self, task: Task, turn: Turn, steps: Steps) -> None:
        """Give the running task what it runs; a cancellation that came before is passed on."""
        with self._changed:
            task.turn, task.steps = turn, steps
            turn.cancelled = task.cancelled

    def yields(self, task: Task) -> bool:
        """After a step: tell whether the running task must let another run; it waits again, in its old place."""
        with self._changed:
            urgent = self._waiting and self._waiting[0][0] < task.priority
            if urgent or self._stopping:
                heapq.heappush(self._waiting, (task.priority, task.number, task))
                self._running = None
                return True
            if not task.cancelled:
                self._clear()  # an interruption for a task that has gone meanwhile
            return False

    @property
    def stopping(self) -> bool:
        """Whether the program has gone, or wants us to go."""
        return self._stopping

    def stop(self) -> None:
        """Interrupt what runs; `take` returns None from now on."""
        with self._changed:
            self._stopping = True
            self._interrupt()
            self._changed.notify()
