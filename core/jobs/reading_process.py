"""A second process that reads turns of a transcript ahead, while this one decides about those before.

Reading is near half of the work on a turn and needs nothing but its texts. The process is this program once more
(`python -m core.jobs.reading_process`, or `--reader` in a bundle); it ends when its input does, so that it cannot
outlive us. Where it does not start, is not up yet, or dies, turns are read on the thread that asks.
"""

import asyncio
import logging
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import IO

from core.jobs.reading import ReadAhead, SaidTexts, Talk, read_batch

log = logging.getLogger(__name__)

WORTH_TURNS = 100  # of a transcript: to start a process takes as long as reading some hundred turns
READY = "ready"
Batch = tuple[Sequence[SaidTexts], Talk]
Answer = tuple[tuple[ReadAhead, ...], Talk]


def default_command() -> tuple[str, ...]:
    """Return the command of the process: the frozen program itself (`keepsake-jobs`), or this module."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--reader")
    return (sys.executable, "-m", "core.jobs.reading_process")


class TurnReader:
    """Reads turns, in a process of its own once many are expected and it is up, else on `pool`'s thread."""

    def __init__(self, pool: Executor, command: Sequence[str] | None = None) -> None:
        self._pool = pool
        self._command = tuple(command or default_command())
        self._thread: ThreadPoolExecutor | None = None  # waits for the process, and unpacks what it sends
        self._process: subprocess.Popen[bytes] | None = None
        self._is_up = False
        self._lock = threading.Lock()
        self._closed = False
        self._expected = 0

    def expect(self, turns: int) -> None:
        """Say that so many turns will come; starts the process in the background once they are worth it."""
        self._expected += turns
        if self._expected > WORTH_TURNS and self._thread is None and not self._closed:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading")
            self._thread.submit(self._start)

    async def wait_started(self) -> bool:
        """Return whether the process is up, as soon as that is known; False if none was started."""
        if self._thread is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)
        return self._is_up

    async def read(self, said: Sequence[SaidTexts], talk: Talk) -> Answer:
        """Read turns of one conversation as `read_batch` does."""
        loop = asyncio.get_running_loop()
        if self._is_up and self._thread is not None:
            try:
                return await loop.run_in_executor(self._thread, self._ask, (said, talk))
            except (OSError, EOFError, pickle.UnpicklingError):
                self._is_up = False  # for good: the turns are read here
                log.warning("the process that reads ahead ended; turns are read without it", exc_info=True)
        return await loop.run_in_executor(self._pool, read_batch, said, talk)

    def close(self) -> None:
        """End the process; nothing is lost with it."""
        with self._lock:
            self._closed, self._is_up = True, False
            if self._process is not None:
                self._process.kill()
        if self._thread is not None:
            self._thread.submit(self._reap)
            self._thread.shutdown(wait=False)

    def _start(self) -> None:
        try:
            with self._lock:
                if self._closed:
                    return
                self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._is_up = pickle.load(_stream(self._process.stdout)) == READY
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            if not self._closed:
                log.warning("no process to read ahead (%s); turns are read without it", error)

    def _ask(self, batch: Batch) -> Answer:
        assert self._process is not None
        _send(_stream(self._process.stdin), batch)
        answer: Answer = pickle.load(_stream(self._process.stdout))
        return answer

    def _reap(self) -> None:
        if self._process is not None:
            with self._process:  # closes its streams and waits
                self._process.kill()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _send(stream: IO[bytes], value: object) -> None:
    pickle.dump(value, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> int:
    """Read what is asked for until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then ends us
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what prints must not come between
    read_batch((("Hello, I am here.", "Hello.", 0.0), ("你好，我在这里。", "你好。", 0.0)), Talk())  # loads the rules
    _send(outgoing, READY)
    while True:
        try:
            said, talk = pickle.load(incoming)
        except EOFError:
            return 0
        _send(outgoing, read_batch(said, talk))


if __name__ == "__main__":
    raise SystemExit(main())
