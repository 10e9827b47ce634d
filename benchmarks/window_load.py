"""The real window under load, in this process: how late its event loop runs a timer of one millisecond.

Run by benchmarks/responsiveness.py, not by hand. The program is composed as ever; only the check
that `--smoke` runs is another: it waits for the model, lets the window rest beside a process that
spins (the floor), then has replies streamed and remembered, and prints the lateness of every tick.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

import app.main
from app.desk import Desk
from app.smoke import SmokeError
from app.windows.main_window import MainWindow
from benchmarks.common import say
from benchmarks.stall_trace import StallTrace
from core.changes import Changes
from core.model import Conversation, Message, ModelPhase, Role
from core.text.tokens import estimate_tokens

TICK_S = 0.001
REST_S = 6.0
AFTER_S = 1.0
LIMIT_S = 200.0
TRACE_FROM_MS = 8.0
QUESTIONS = (
    "Write a long Python program with three classes and many functions that keeps the books of a library: members, "
    "loans, reminders. Write each class in a code block of its own, then list ten things that could be added.",
    "We decided to use PostgreSQL 16 for billing, the deadline is 2026-12-01 and config/db.toml fails with "
    "`ConnectionError`. List twenty things that could go wrong, one point a line.",
    "Write a long story about a lighthouse keeper and her dog, with many details.",
)


class Heartbeat(QObject):
    """Ticks every millisecond; keeps by how much each tick was late, and what of it the thread queued and worked."""

    def __init__(self, *, trace: bool = False) -> None:
        super().__init__()
        self._late_ms: list[tuple[float, float, float]] = []
        self._last, self._worked_s = time.perf_counter(), time.thread_time()
        self._queue = _open_queue()
        self._queued_s = self._read_queued_s()
        self.trace = StallTrace(lambda: self._last, from_ms=TRACE_FROM_MS) if trace else None
        self._timer = QTimer(self, interval=round(TICK_S * 1000), timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now, queued_s, worked_s = time.perf_counter(), self._read_queued_s(), time.thread_time()
        late_ms, queued_ms = max(0.0, now - self._last - TICK_S) * 1000, (queued_s - self._queued_s) * 1000
        worked_ms = (worked_s - self._worked_s) * 1000
        self._late_ms.append((late_ms, queued_ms, worked_ms))
        self._last, self._queued_s, self._worked_s = now, queued_s, worked_s
        if self.trace is not None:
            self.trace.take(late_ms, queued_ms=queued_ms, worked_ms=worked_ms)

    def _read_queued_s(self) -> float:
        """How long this thread has waited for a processor in all; 0 where the system does not tell."""
        return int(os.pread(self._queue, 100, 0).split()[1]) / 1e9 if self._queue >= 0 else 0.0

    def stop(self) -> None:
        """End; a timer that outlives the application would end the process badly."""
        self._timer.stop()
        if self.trace is not None:
            self.trace.stop()

    def take(self) -> list[tuple[float, float, float]]:
        """Return what was kept since the last call, in ms."""
        taken, self._late_ms = self._late_ms, []
        return taken


def _open_queue() -> int:
    try:
        return os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return -1


async def measure(
    desk: Desk, window: MainWindow, text: str, *, window_ms: int, trace: bool = False
) -> dict[str, object]:
    """Rest, then stream; returns the lateness of both in ms, the replies' speeds and what was in them."""
    del text
    deadline = time.monotonic() + LIMIT_S
    await wait_for_model(desk, deadline)
    heartbeat = Heartbeat(trace=trace)
    spinning = _start_spinning()
    try:
        await asyncio.sleep(1)
        heartbeat.take()
        await asyncio.sleep(REST_S)
        rest = heartbeat.take()
    finally:
        spinning.kill()
        spinning.wait()
    await asyncio.sleep(0.5)
    heartbeat.take()
    if heartbeat.trace is not None:
        heartbeat.trace.clear()
    for question in QUESTIONS:
        await _ask(desk, window, question, deadline)
    await asyncio.sleep(AFTER_S)  # what follows a turn: memory, segments and list are shown anew
    busy = heartbeat.take()
    heartbeat.stop()
    if heartbeat.trace is not None:
        say(heartbeat.trace.describe())
    session = desk.list.selected
    messages = await desk.engine.load_messages(session) if session else ()
    replies = [message for message in messages if message.role is Role.ASSISTANT]
    return {"window_ms": window_ms, "rest": rest, "busy": busy, "replies": [_describe(reply) for reply in replies]}


def _describe(reply: Message) -> dict[str, object]:
    """How long a reply is and what stands in it, so that one sees that the load was one."""
    lines = reply.text.splitlines()
    return {
        "tokens": estimate_tokens(reply.text),
        "tokens_per_s": reply.tokens_per_s,
        "code_blocks": sum(line.lstrip().startswith("```") for line in lines) // 2,
        "list_items": sum(line.lstrip()[:2] in ("- ", "* ", "1.") or line.lstrip()[1:3] == ". " for line in lines),
    }


def _start_spinning() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


async def wait_for_model(desk: Desk, deadline: float) -> None:
    """Return when the model is ready; raise `SmokeError` if it cannot be, or is not by the deadline."""
    while desk.engine.model_status.phase is not ModelPhase.READY:
        if desk.engine.model_status.phase in (ModelPhase.ABSENT, ModelPhase.FAILED) or time.monotonic() > deadline:
            raise SmokeError(f"The model is not ready: {desk.engine.model_status.detail}")
        await asyncio.sleep(0.05)


async def _ask(desk: Desk, window: MainWindow, question: str, deadline: float) -> None:
    """Send a message as the user does; returns when its reply and its memory are done."""
    changed = asyncio.Event()

    def watch(changes: Changes) -> None:
        if changes.conversations:
            changed.set()

    unsubscribe = desk.engine.subscribe(watch)
    try:
        count = sum(row.turn_count for row in await desk.engine.list_conversations())
        window.chat.composer.set_text(question)
        window.chat.composer.entry.submitted.emit()
        while True:
            changed.clear()  # before looking: what changes meanwhile is looked at again
            rows: tuple[Conversation, ...] = await desk.engine.list_conversations()
            if sum(row.turn_count for row in rows) > count and not any(row.replying for row in rows):
                break
            await asyncio.wait_for(changed.wait(), max(0.0, deadline - time.monotonic()))
    finally:
        unsubscribe()
    await desk.engine.wait_idle()


def main() -> int:
    """Run the window on a data folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the data folder; made if it is not there")
    parser.add_argument("--trace", action="store_true", help="say what the longest stalls were made of")
    args = parser.parse_args()
    vars(app.main)["run_smoke"] = partial(measure, trace=args.trace)
    resources = Path(app.main.__file__).resolve().parent.parent / "resources"
    return app.main.main(app.main.Options(resources=resources, data_dir=args.folder, smoke="-"))


if __name__ == "__main__":
    raise SystemExit(main())
