"""What the Qt thread was doing while its event loop stood still: stacks taken from another thread.

Only for `benchmarks.window_load --trace`: looking costs time itself, so no figure is taken beside it.
"""

import gc
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

LOOK_EVERY_S = 0.002
COLLECTION_FROM_MS = 3.0
FRAMES = 9
SKIPPED = ("_run_module_as_main", "_run_code", "<module>", "main", "run", "run_until_complete", "_bootstrap",
           "_bootstrap_inner")  # fmt: skip
WAITING = ("wait", "_worker", "read_frame", "_write", "_collect")


@dataclass(slots=True)
class Stall:
    """One pause of the loop, and where the threads were meanwhile."""

    late_ms: float = 0.0
    queued_ms: float = 0.0  # of it, the Qt thread waited for a processor
    worked_ms: float = 0.0  # of it, the Qt thread had a processor; the rest it waited for another thread
    looks: list[str] = field(default_factory=list)


class StallTrace:
    """Looks at the threads as soon as the loop is late by `from_ms`."""

    def __init__(self, last_beat: Callable[[], float], *, from_ms: float) -> None:
        """Look at the thread that calls this; `last_beat` returns when its loop last ran, on `perf_counter`."""
        self._watched = threading.get_ident()
        self._last_beat = last_beat
        self._from_ms = from_ms
        self._looks: list[str] = []
        self._ended = threading.Event()
        self._collection_began = 0.0
        self.stalls: list[Stall] = []
        gc.callbacks.append(self._note_collection)
        threading.Thread(target=self._look, name="stall-trace", daemon=True).start()

    def take(self, late_ms: float, *, queued_ms: float, worked_ms: float) -> None:
        """The loop runs again; called on its thread."""
        looks, self._looks = self._looks, []
        if late_ms - queued_ms >= self._from_ms:
            self.stalls.append(Stall(late_ms=late_ms, queued_ms=queued_ms, worked_ms=worked_ms, looks=looks))

    def clear(self) -> None:
        """Forget the stalls so far."""
        self.stalls.clear()

    def stop(self) -> None:
        """End the looking."""
        self._ended.set()
        gc.callbacks.remove(self._note_collection)

    def describe(self, most: int = 12) -> str:
        """The longest stalls, without what the thread queued for, longest first."""
        longest = sorted(self.stalls, key=lambda stall: stall.queued_ms - stall.late_ms)[:most]
        return "\n\n".join(
            f"{stall.late_ms:.1f} ms late, {stall.queued_ms:.1f} ms queued, {stall.worked_ms:.1f} ms of work\n"
            + "\n".join(f"  {count} x {look}" for look, count in Counter(stall.looks).most_common())
            for stall in longest
        )

    def _note_collection(self, phase: str, found: dict[str, int]) -> None:
        """No thread can look while Python collects garbage, so its own notice is taken."""
        now = time.perf_counter()
        if phase == "start":
            self._collection_began = now
        elif (took_ms := (now - self._collection_began) * 1000) > COLLECTION_FROM_MS:
            name = threading.current_thread().name
            self._looks.append(f"[{name}] garbage of generation {found['generation']}: {took_ms:.0f} ms")

    def _look(self) -> None:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        while not self._ended.wait(LOOK_EVERY_S):
            if (time.perf_counter() - self._last_beat()) * 1000 < self._from_ms / 2:
                continue
            names |= {thread.ident: thread.name for thread in threading.enumerate()}
            for ident, frame in sys._current_frames().items():
                if ident == threading.get_ident():
                    continue
                stack = [step for step in traceback.extract_stack(frame) if step.name not in SKIPPED][-FRAMES:]
                if not stack or (ident != self._watched and stack[-1].name in WAITING):
                    continue
                where = " > ".join(f"{step.filename.rsplit('/', 1)[-1]}:{step.lineno} {step.name}" for step in stack)
                self._looks.append(f"[{names.get(ident)}] {where}")
