"""Composition root: builds the window and the engine, starts both in the right order, ends both in time.

The window is on screen before the engine is opened or the model is loaded; what takes time comes after
the first paint.
"""

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app import instance, logs
from app.garbage import GarbageCollector
from app.smoke import SmokeError, run_smoke
from app.theme import Look, ThemeMode
from app.windows.main_window import MainWindow
from core.errors import CoreError, FolderInUseError
from core.paths import DataFolder, find_data_folder

if TYPE_CHECKING:
    from app.desk import Desk
    from core.engine import Engine

log = logging.getLogger(__name__)
ENGINE_CLOSE_S = 10.0
HARD_EXIT_S = 20.0  # a thread that will not end must not keep the program alive for ever
PAINT_TIMEOUT_S = 5.0
RAISE_TRIES, RAISE_PAUSE_S = 12, 0.25
# How long another thread may keep the interpreter when the Qt thread wants it. The Qt thread gives it up and takes
# it again several times an event, so Python's own 5 ms would add up to stalls that one sees.
SWITCH_INTERVAL_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    resources: Path
    data_dir: str | None = None
    smoke: str | None = None
    ready_report: bool = False
    probe: str | None = None


def process_age_s() -> float:
    """Seconds since the system started this process; 0 where that cannot be known."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def main(options: Options) -> int:
    """Run the program; returns its exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    QApplication.setOrganizationName("Keepsake")
    QApplication.setApplicationName("Keepsake")
    QApplication.setDesktopFileName("keepsake")
    app = QApplication([sys.argv[0]])
    app.setQuitOnLastWindowClosed(False)  # else Qt leaves the loop while tasks still run
    folder = find_data_folder(options.data_dir)
    if instance.raise_first(folder.root):
        return 0
    logs.start_logging(folder.log)
    app.setWindowIcon(QIcon(str(options.resources / "icons" / "keepsake-128.png")))
    state = QSettings(str(folder.state / "window.ini"), QSettings.Format.IniFormat)
    look = Look(app, options.resources / "themes")
    mode, zoom = str(state.value("theme", "system")), str(state.value("zoom", "100"))
    look.apply(
        mode=ThemeMode(mode) if mode in list(ThemeMode) else ThemeMode.SYSTEM,
        zoom_percent=int(zoom) if zoom.isdigit() else 100,
    )
    window = MainWindow(look, state)
    window.data_folder = str(folder.root)
    window.chat.welcome.set_folder(str(folder.root))
    window.show()
    if options.probe is not None:
        from app.probe import Probe  # for end-to-end tests only

        Probe(options.probe, window)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        return runner.run(Program(window, state, folder, options).run())


class Program:
    """One run of the program, from the first paint to the last file closed."""

    def __init__(self, window: MainWindow, state: QSettings, folder: DataFolder, options: Options) -> None:
        self._window = window
        self._state = state
        self._folder = folder
        self._options = options
        self._closed = asyncio.Event()
        self._retry = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="warm-up")
        self._first = instance.FirstInstance(folder.root, window.raise_up, window)
        self._window_ms = 0
        self._smoked = False
        window.closed.connect(self._closed.set)
        window.notice.quit_requested.connect(window.close)
        window.notice.retry_requested.connect(self._retry.set)

    async def run(self) -> int:
        """Run until the window is closed; returns the exit code."""
        _catch_signals(self._window)
        await self._wait_for_paint()
        collector = GarbageCollector(self._window)
        code = 0
        while not self._closed.is_set():
            self._retry.clear()
            try:
                code = await self._session()
            except FolderInUseError as error:
                if await self._raise_other():
                    return 0
                await self._show_problem("Keepsake is already open", str(error))
            except CoreError as error:
                log.error("the start stopped: %s", error)
                await self._show_problem("Keepsake cannot start", str(error))
            if self._options.smoke is not None and not self._smoked:
                code = 1
        self._pool.shutdown(wait=False, cancel_futures=True)
        collector.close()
        return code

    async def _wait_for_paint(self) -> None:
        painted = asyncio.Event()
        self._window.painted.connect(painted.set)
        try:
            await asyncio.wait_for(painted.wait(), PAINT_TIMEOUT_S)
        except TimeoutError:
            log.warning("the window was not painted within %.0f s", PAINT_TIMEOUT_S)
        await asyncio.sleep(0)
        self._window_ms = round(process_age_s() * 1_000)
        log.info("window interactive after %d ms", self._window_ms)
        if self._options.ready_report:
            _print_json({"window_ms": self._window_ms})

    async def _session(self) -> int:
        """Open the engine, run until the window closes, close the engine."""
        loop = asyncio.get_running_loop()
        engine = await loop.run_in_executor(self._pool, self._build_engine)
        desk: Desk | None = None
        try:
            await engine.open()
            log.info("store open after %.0f ms", process_age_s() * 1_000)
            engine.start_model()  # in a process of its own, beside what the window still needs
            self._first.listen()
            await loop.run_in_executor(self._pool, _warm_up)
            desk = self._make_desk(engine)
            await desk.start()
            self._window.hide_notice()
            if self._options.smoke is not None:
                return await self._run_smoke(desk, self._options.smoke)
            await self._closed.wait()
            return 0
        finally:
            _exit_hard_after(HARD_EXIT_S) if self._closed.is_set() else None
            self._first.close()
            if desk is not None:
                await desk.aclose()
            await _close_engine(engine)

    def _build_engine(self) -> "Engine":
        """Import what the window does not need to be seen: it takes as long as the window itself."""
        from core.engine import Engine, load_settings

        settings = load_settings(self._folder.settings, os.environ)
        return Engine(self._folder, settings, resources=self._options.resources)

    def _make_desk(self, engine: "Engine") -> "Desk":
        from app.desk import Desk  # imported by now, see `_warm_up`

        gc.freeze()  # what is here stays: looking through all of it for garbage would stall the window for 40 ms
        return Desk(engine, self._window, self._state)

    async def _run_smoke(self, desk: "Desk", text: str) -> int:
        self._smoked = True
        try:
            result = await run_smoke(desk, self._window, text, window_ms=self._window_ms)
        except (SmokeError, CoreError) as error:
            print(str(error), file=sys.stderr)  # noqa: T201 (the check's result)
            return 1
        finally:
            self._window.close()
        _print_json(dict(result))
        return 0

    async def _raise_other(self) -> bool:
        """The folder belongs to another window: bring that one up. It may still be starting."""
        for _ in range(RAISE_TRIES):
            if instance.raise_first(self._folder.root):
                self._window.close()
                return True
            await asyncio.sleep(RAISE_PAUSE_S)
        return False

    async def _show_problem(self, headline: str, text: str) -> None:
        """Say what stopped the start, and wait until the user tries again or quits."""
        if self._options.smoke is not None:
            print(text, file=sys.stderr)  # noqa: T201
        self._window.show_notice(headline, text)
        if self._options.smoke is not None:
            self._window.close()
        waits = [asyncio.ensure_future(e.wait()) for e in (self._closed, self._retry)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()


async def _close_engine(engine: "Engine") -> None:
    try:
        await asyncio.wait_for(engine.aclose(), ENGINE_CLOSE_S)
    except TimeoutError:
        log.error("the engine did not close within %.0f s", ENGINE_CLOSE_S)
    except CoreError as error:
        log.error("the engine closed with an error: %s", error)


def _warm_up() -> None:
    """Import what joins engine and window, and what the first reply needs, off the thread that paints."""
    import app.desk  # noqa: F401 (0.1 s that the first paint need not wait for)
    from app.rendering import code, markdown

    markdown.warm_up()
    code.warm_up()


def _exit_hard_after(seconds: float) -> None:
    def leave() -> None:
        time.sleep(seconds)
        log.critical("the program did not end by itself within %.0f s", seconds)
        logging.shutdown()
        os._exit(1)

    threading.Thread(target=leave, name="hard-exit", daemon=True).start()


def _catch_signals(window: MainWindow) -> None:
    """Close the window on SIGINT and SIGTERM. Qt waits in C++, so a socket wakes the loop."""
    if sys.platform == "win32":
        return
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)

    def on_signal(_keep: socket.socket = theirs) -> None:  # collected, it would close and count as a signal
        ours.recv(64)
        window.close()

    asyncio.get_running_loop().add_reader(ours, on_signal)


def _print_json(values: dict[str, object]) -> None:
    print(json.dumps(values, ensure_ascii=False), flush=True)  # noqa: T201
