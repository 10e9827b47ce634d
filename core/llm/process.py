"""The client's end of the model process: start, frames in and out, its last lines, and its end.

Works on any asyncio loop, qasync's included: a plain subprocess with threads, whose news reach the loop through
`call_soon_threadsafe`. Nothing here blocks the loop.
"""

import asyncio
import contextlib
import logging
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TypeVarTuple

from core.llm.frames import Frame, FrameError, read_frame, write_frame

log = logging.getLogger(__name__)

Ts = TypeVarTuple("Ts")

STOP_S, TERMINATE_S, KILL_S = 1.5, 1.0, 2.0  # how long to wait after asking, terminating, killing
KEPT_LINES = 200

_REASONS = {
    "SIGSEGV": "it touched memory that is not its own (SIGSEGV)",
    "SIGBUS": "its model file changed or went away while it was read (SIGBUS)",
    "SIGILL": "this processor lacks an instruction that it uses (SIGILL)",
    "SIGFPE": "it met an impossible calculation (SIGFPE)",
    "SIGABRT": "it found an error in itself and gave up (SIGABRT)",
    "SIGKILL": "it was killed from outside (SIGKILL), most likely because memory ran out",
    "SIGTERM": "another program asked it to end (SIGTERM)",
}
_WINDOWS_REASONS = {
    0xC0000005: "it touched memory that is not its own",
    0xC000001D: "this processor lacks an instruction that it uses",
    0xC0000017: "memory ran out",
    0xC0000135: "a library that it needs is missing",
}


def default_command() -> tuple[str, ...]:
    """Return the command of the model process: the frozen program itself, or the worker's module."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--model-host")
    return (sys.executable, "-m", "core.llm.worker")


def explain_exit(code: int) -> str:
    """Return in plain words why a process ended with this code, as the end of a sentence."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return _REASONS.get(name, f"it was ended by {name}")
    return _WINDOWS_REASONS.get(code & 0xFFFFFFFF, f"it ended with code {code}")


class HostProcess:
    """One run of the model process. All callbacks are called on the loop; `on_exit` once, last."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        before: Callable[[], object],
        on_frame: Callable[[Frame], None],
        on_exit: Callable[[BaseException | int], None],
    ) -> None:
        """Start in the background. `before` runs first, off the loop; what it raises goes to `on_exit`."""
        self._command = tuple(command)
        self._before, self._on_frame, self._on_exit = before, on_frame, on_exit
        self._loop = asyncio.get_running_loop()
        self._outgoing: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._child: subprocess.Popen[bytes] | None = None
        self._closing = threading.Event()
        self._ended = asyncio.Event()
        threading.Thread(target=self._run, name="model-host", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The process's id once it runs."""
        return self._child.pid if self._child is not None else None

    @property
    def last_lines(self) -> tuple[str, ...]:
        """What the process logged last."""
        return tuple(self._lines)

    def send(self, **frame: object) -> None:
        """Send a frame; frames sent before the start or after the end are kept or dropped in silence."""
        self._outgoing.put(frame)

    async def aclose(self) -> None:
        """Ask the process to end, then terminate it, then kill it; return when it is gone, after 4.5 s at most."""
        self._closing.set()
        self._outgoing.put(None)  # closes its stdin
        for wait_s, force in ((STOP_S, self._terminate), (TERMINATE_S, self._kill), (KILL_S, None)):
            try:
                await asyncio.wait_for(self._ended.wait(), wait_s)
            except TimeoutError:
                if force is not None:
                    force()
                else:
                    log.error("the model process %s does not end", self.pid)
            else:
                return

    def kill(self) -> None:
        """End the process at once; `on_exit` follows."""
        self._kill()

    def _terminate(self) -> None:
        if self._child is not None:
            self._child.terminate()

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def _run(self) -> None:
        result: BaseException | int
        try:
            self._before()
            result = self._serve() if not self._closing.is_set() else 0
        except Exception as error:  # noqa: BLE001 - a thread's end: whoever waits is told
            result = error
        self._call(self._finish, result)

    def _serve(self) -> int:
        frozen = getattr(sys, "frozen", False)
        with subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # `-m` finds our package from here, wherever the program was started.
            cwd=None if frozen else Path(__file__).resolve().parent.parent.parent,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            # a signal for the program's whole group (Ctrl+C, `timeout`) is for us to act on: we close it in order
            start_new_session=True,
        ) as child:
            self._child = child
            stdin, stdout, stderr = child.stdin, child.stdout, child.stderr
            assert stdin is not None
            assert stdout is not None
            assert stderr is not None
            writer = threading.Thread(target=self._write, args=(stdin,), name="model-host-in", daemon=True)
            logger = threading.Thread(target=self._collect, args=(stderr,), name="model-host-log", daemon=True)
            writer.start()
            logger.start()
            try:
                while (frame := read_frame(stdout)) is not None:
                    self._call(self._on_frame, frame)
            except FrameError as error:
                log.error("the model process sent no frames: %s", error)
                child.kill()
            code = child.wait()
            logger.join(1.0)  # its last lines are the interesting ones
            self._outgoing.put(None)
            writer.join(1.0)
            return code

    def _write(self, stdin: IO[bytes]) -> None:
        try:
            while (frame := self._outgoing.get()) is not None:
                write_frame(stdin, frame)
        except OSError:
            log.debug("the model process no longer listens")  # why, the reading thread learns
        finally:
            with contextlib.suppress(OSError):  # what was not written yet cannot be written now
                stdin.close()

    def _collect(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self._lines.append(line.decode("utf-8", "replace").rstrip())

    def _call(self, function: Callable[[*Ts], None], *args: *Ts) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            log.debug("the loop is closed; news of the model process are dropped")

    def _finish(self, result: BaseException | int) -> None:
        self._ended.set()
        self._on_exit(result)
