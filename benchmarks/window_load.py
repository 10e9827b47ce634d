"""The real window under load, in this process: how late its event loop runs a timer of one millisecond.

Run by benchmarks/responsiveness.py, not by hand. The program is composed as ever; only the check
that `--smoke` runs is another: it waits for the model, lets the window rest beside a process that
spins (the floor), then has replies streamed and remembered, and prints the lateness of every tick.
"""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

import app.main
from app.desk import Desk
from app.smoke import SmokeError
from app.windows.main_window import MainWindow
from core.changes import Changes
from core.model import Conversation, ModelPhase

TICK_S = 0.001
REST_S = 6.0
LIMIT_S = 180.0
QUESTIONS = (
    "Write a long story about a lighthouse keeper and her dog, with many details.",
    "We decided to use PostgreSQL 16 for billing. List everything that could go wrong, one point a line.",
)


class Heartbeat(QObject):
    """Ticks every millisecond and keeps by how much each tick was late, in ms."""

    def __init__(self) -> None:
        super().__init__()
        self._late_ms: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(self, interval=round(TICK_S * 1000), timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self._late_ms.append(max(0.0, now - self._last - TICK_S) * 1000)
        self._last = now

    def stop(self) -> None:
        """End; a timer that outlives the application would end the process badly."""
        self._timer.stop()

    def take(self) -> list[float]:
        """Return what was kept since the last call."""
        taken, self._late_ms = self._late_ms, []
        return taken


async def measure(desk: Desk, window: MainWindow, text: str, *, window_ms: int) -> dict[str, object]:
    """Rest, then stream; returns the lateness of both in ms and the replies' speeds."""
    del text
    deadline = time.monotonic() + LIMIT_S
    await _wait_for_model(desk, deadline)
    heartbeat = Heartbeat()
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
    for question in QUESTIONS:
        await _ask(desk, window, question, deadline)
    busy = heartbeat.take()
    heartbeat.stop()
    session = desk.list.selected
    messages = await desk.engine.load_messages(session) if session else ()
    speeds = [message.tokens_per_s for message in messages if message.tokens_per_s]
    return {"window_ms": window_ms, "rest": rest, "busy": busy, "tokens_per_s": speeds}


def _start_spinning() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


async def _wait_for_model(desk: Desk, deadline: float) -> None:
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
            rows: tuple[Conversation, ...] = await desk.engine.list_conversations()
            if sum(row.turn_count for row in rows) > count and not any(row.replying for row in rows):
                break
            changed.clear()
            await asyncio.wait_for(changed.wait(), max(0.0, deadline - time.monotonic()))
    finally:
        unsubscribe()
    await desk.engine.wait_idle()


def main() -> int:
    """Run the window on the data folder given as the argument."""
    vars(app.main)["run_smoke"] = measure
    resources = Path(app.main.__file__).resolve().parent.parent / "resources"
    return app.main.main(app.main.Options(resources=resources, data_dir=sys.argv[1], smoke="-"))


if __name__ == "__main__":
    raise SystemExit(main())
