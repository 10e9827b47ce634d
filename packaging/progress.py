"""Progress of a long set-up in the terminal: numbered steps with their seconds. Standard library only."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

QUIET_S = 15.0  # where lines cannot be rewritten (logs, CI), say at most this often what is going on


class Progress:
    """Prints `[2/5] Libraries ... 12 s`; on a terminal one line a step, rewritten while it runs."""

    def __init__(self, total: int, out: TextIO = sys.stdout) -> None:
        self._total, self._out = total, out
        self._number, self._title = 0, ""
        self._began = self._last_said = 0.0

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Run the body as the next step; it is handed a function that says what is being done."""
        self._number, self._title = self._number + 1, title
        self._began = self._last_said = time.monotonic()
        if self._out.isatty():
            self._write("", end="")
        try:
            yield self._tick
        except BaseException:
            self._write("did not finish", rewrite=True)
            raise
        self._write("ok", rewrite=True)

    def skip(self, steps: int) -> None:
        """Count steps that have nothing to do."""
        self._number += steps

    def _tick(self, text: str) -> None:
        now = time.monotonic()
        if self._out.isatty():
            self._write(text, end="", rewrite=True)
        elif now - self._last_said >= QUIET_S:
            self._last_said = now
            self._write(text)

    def _write(self, text: str, *, end: str = "\n", rewrite: bool = False) -> None:
        elapsed_s = time.monotonic() - self._began
        line = f"[{self._number}/{self._total}] {self._title:<20}"
        if text:
            line += f" {text[:70]:<48} {elapsed_s:6.1f} s"
        if rewrite and self._out.isatty():
            line = "\r\x1b[2K" + line
        print(line.rstrip(), end=end, file=self._out, flush=True)


def run_logged(
    args: list[str],
    log: Path,
    *,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    on_line: Callable[[str], None] = lambda line: None,
) -> None:
    """Run a command without standard input; its output goes to `log` and, line by line, to `on_line`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        print("$", *args, file=file, flush=True)
        with subprocess.Popen(
            args,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    file.write(line)
                    on_line(line.rstrip())
            except BaseException:
                process.terminate()
                raise
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, args)
