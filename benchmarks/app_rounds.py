"""The real window in this process, answering a question for each line of stdin.

Run by benchmarks/throughput.py, not by hand. The program is composed as ever; only the check that `--smoke` runs is
another: it types each question into a new conversation, waits until the reply is stored and memory is done, and
prints when the first words and the stored reply reached a subscriber of the engine.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

import app.main
from app.desk import Desk
from app.windows.main_window import MainWindow
from benchmarks.window_load import wait_for_model
from core.changes import Changes
from core.model import ModelPhase, Role

LIMIT_S = 600.0


class Watch:
    """Takes the engine's notices of one reply."""

    def __init__(self, desk: Desk) -> None:
        self._engine = desk.engine
        self.text = ""
        self.first_s = self.stored_s = 0.0
        self.stored = asyncio.Event()

    def take(self, changes: Changes) -> None:
        """Note the first words' time, the text, and the time of the notice that all of it is stored."""
        if changes.model and not self.first_s and self._engine.model_status.phase is ModelPhase.WRITING:
            self.first_s = time.perf_counter()
        if changes.reply is not None:
            self.text += changes.reply.text
        if changes.messages and changes.status and self.text:
            self.stored_s = time.perf_counter()
            self.stored.set()


async def _answer(desk: Desk, window: MainWindow, question: str) -> dict[str, object]:
    session = await desk.list.create()
    await asyncio.sleep(0.2)  # the new conversation is on screen
    watch = Watch(desk)
    unsubscribe = desk.engine.subscribe(watch.take)
    try:
        sent_s = time.perf_counter()
        window.chat.composer.set_text(question)
        window.chat.composer.entry.submitted.emit()
        await asyncio.wait_for(watch.stored.wait(), LIMIT_S)
    finally:
        unsubscribe()
    reply = next(m for m in await desk.engine.load_messages(session) if m.role is Role.ASSISTANT)
    if watch.text.strip() != reply.text:
        raise RuntimeError("the pieces are not the stored reply")
    await desk.engine.wait_idle()
    return {"sent": sent_s, "first": watch.first_s, "stored": watch.stored_s, "note": reply.note, "text": reply.text}


async def answer_cold(desk: Desk, window: MainWindow, text: str, *, window_ms: int) -> dict[str, object]:
    """Send at once, while the model still loads; print when the first words are there."""
    session = await desk.list.create()
    first = asyncio.Event()
    unsubscribe = desk.engine.subscribe(lambda changes: first.set() if changes.reply is not None else None)
    try:
        sent_s = time.perf_counter()
        window.chat.composer.set_text(text)
        window.chat.composer.entry.submitted.emit()
        await asyncio.wait_for(first.wait(), LIMIT_S)
        print(json.dumps({"window_ms": window_ms, "waited_s": time.perf_counter() - sent_s}), flush=True)
    finally:
        unsubscribe()
    await desk.engine.stop_reply(session)
    return {"window_ms": window_ms}


async def serve(desk: Desk, window: MainWindow, text: str, *, window_ms: int) -> dict[str, object]:
    """Answer until stdin ends."""
    del text
    await wait_for_model(desk, time.monotonic() + LIMIT_S)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await _answer(desk, window, json.loads(line))), flush=True)
    return {"window_ms": window_ms}


def main() -> int:
    """Run the window on a data folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the data folder; made if it is not there")
    parser.add_argument("--cold", metavar="TEXT", help="answer TEXT while the model loads, then end")
    args = parser.parse_args()
    vars(app.main)["run_smoke"] = serve if args.cold is None else answer_cold
    resources = Path(app.main.__file__).resolve().parent.parent / "resources"
    return app.main.main(app.main.Options(resources=resources, data_dir=args.folder, smoke=args.cold or "-"))


if __name__ == "__main__":
    raise SystemExit(main())
