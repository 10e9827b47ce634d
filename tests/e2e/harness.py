"""The real program on a virtual screen, used with real keys and a real mouse.

`--probe NAME` lets a test look at what the window shows; every action goes through the X server.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 90.0  # the model loads and answers on two busy cores well within this
LOOK_EVERY_S = 0.1


class RunningApp:
    """One run of the program."""

    def __init__(self, display: str, folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> None:
        self._probe = str(folder.parent / f"probe-{time.monotonic_ns()}")
        self._env = os.environ | {
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": str(folder.parent),
        }
        command = [*prefix, sys.executable, "-m", "app", "--data-dir", str(folder), "--probe", self._probe, *arguments]
        self.log = folder.parent / f"{Path(self._probe).name}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=output, stderr=output)

    def look(self) -> dict[str, Any]:
        """Return what the window shows now; empty before there is a window."""
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(self._probe)
                connection.sendall(b"look\n")
                data = b"".join(iter(lambda: connection.recv(65536), b""))
            except OSError:
                return {}
        return json.loads(data) if data else {}

    def texts(self) -> str:
        """Return all visible text but the lists' rows, a widget a line."""
        return "\n".join(widget["text"] for widget in self.look().get("widgets", ()) if not widget["rows"])

    def rows(self) -> str:
        """Return the rows of the lists, a line each."""
        return "\n".join(row["text"] for widget in self.look().get("widgets", ()) for row in widget["rows"])

    def wait_for(self, seen: Callable[[str], bool], what: str) -> str:
        """Wait until the visible text satisfies `seen`; fails naming `what` after a limit."""
        deadline = time.monotonic() + LIMIT_S
        texts = ""
        while time.monotonic() < deadline:
            texts = self.texts()
            if texts and seen(texts):
                return texts
            if self.process.poll() is not None:
                raise AssertionError(f"the program ended ({self.process.returncode}) before {what}: {self._tail()}")
            time.sleep(LOOK_EVERY_S)
        raise AssertionError(f"{what} was not seen; the window shows:\n{texts}\n{self._tail()}")

    def type(self, text: str, *, then: str = "Return") -> None:
        """Type into what has the focus, then press a key."""
        self._xdotool("type", "--delay", "5", text)
        if then:
            self._xdotool("key", then)

    def key(self, name: str) -> None:
        self._xdotool("key", name)

    def click(self, name: str) -> None:
        """Click the middle of the visible widget whose object or accessible name this is."""
        for widget in self.look().get("widgets", ()):
            if name in (widget["name"], widget["accessible"]):
                x, y, width, height = widget["place"]
                self._xdotool("mousemove", str(x + width // 2), str(y + height // 2), "click", "1")
                return
        raise AssertionError(f"no widget {name!r} on screen")

    def click_row(self, text: str) -> None:
        """Click the row of a list that holds a text."""
        for widget in self.look().get("widgets", ()):
            for row in widget.get("rows", ()):
                if text in row["text"]:
                    x, y, width, height = row["place"]
                    self._xdotool("mousemove", str(x + width // 2), str(y + height // 2), "click", "1")
                    return
        raise AssertionError(f"no row with {text!r} on screen")

    def focus(self) -> None:
        """Give the window the keyboard: there is no window manager to do it."""
        found = self._xdotool("search", "--sync", "--onlyvisible", "--pid", str(self.process.pid)).split()
        self._xdotool("windowfocus", "--sync", found[-1])

    def close(self) -> int:
        """Close the window as a user does and return the exit code."""
        self.key("ctrl+q")
        return self.process.wait(LIMIT_S)

    def kill(self) -> None:
        """End the process without warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT_S)

    def children(self) -> list[int]:
        """Return the ids of the program's child processes (the model host)."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        pids: set[int] = set()
        for task in path.parent.parent.iterdir():
            pids |= set(map(int, (task / "children").read_text().split()))
        return sorted(pids)

    def _xdotool(self, *arguments: str) -> str:
        return subprocess.check_output(["xdotool", *arguments], env=self._env, timeout=LIMIT_S, text=True)

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


@contextmanager
def running(display: str, folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> Iterator[RunningApp]:
    """Start the program, wait for its window, and make sure that it ends."""
    app = RunningApp(display, folder, *arguments, prefix=prefix)
    try:
        app.wait_for(lambda texts: "New conversation" in texts, "the window")
        app.focus()
        yield app
    finally:
        if app.process.poll() is None:
            app.kill()
