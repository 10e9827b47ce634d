"""Fixtures of window tests: the production loop, a look, and a window with a scripted engine behind it."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QEvent, QSettings
from PySide6.QtWidgets import QApplication

from app.desk import Desk
from app.theme import Look, ThemeMode
from app.windows.main_window import MainWindow
from tests.app.scripted import ScriptedEngine

BLOCKED_S = 0.5  # a step longer than this is a bug; generous, for test machines are busy


@pytest.fixture
def on_qt_loop(qapp, caplog) -> Callable[..., None]:
    """Run a coroutine on the production loop for at most 20 s; fail if a step blocks it."""
    from qasync import QEventLoop

    qapp.setQuitOnLastWindowClosed(False)

    def run(work: Coroutine[Any, Any, None], blocked_s: float = BLOCKED_S) -> None:
        with asyncio.Runner(loop_factory=lambda: QEventLoop(qapp), debug=True) as runner:
            runner.get_loop().slow_callback_duration = blocked_s
            # qasync asks for it in debug mode, also in its last round after the loop; from 3.12 on that warns without
            asyncio.set_event_loop(runner.get_loop())
            try:
                runner.run(asyncio.wait_for(work, 20))
            finally:
                asyncio.set_event_loop(None)
        assert [r.getMessage() for r in caplog.records if r.name.startswith("qasync")] == []

    return run


@pytest.fixture(autouse=True, scope="package")
def collect_nothing_unasked() -> Iterator[None]:
    """Threads that other tests left may collect between two of these, too: not while there are windows."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def collect_on_this_thread(qapp: QApplication) -> Iterator[None]:
    """What a test leaves behind goes here and now: a window that is collected on another thread crashes."""
    yield
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()


@pytest.fixture
def look(qapp: QApplication, root: Path) -> Look:
    """The light theme at 100 %."""
    look = Look(qapp, root / "resources" / "themes")
    look.apply(mode=ThemeMode.LIGHT)
    return look


class Stage:
    """A shown window joined to a scripted engine."""

    def __init__(self, look: Look, folder: Path) -> None:
        self.engine = ScriptedEngine()
        self.state = QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat)
        self.look = look
        self.window = MainWindow(look, self.state)
        self.window.resize(1440, 900)
        self.desk: Desk | None = None

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[MainWindow]:
        """Show the window, load what the engine holds; afterwards close all in order."""
        self.window.show()
        self.desk = Desk(cast(Any, self.engine), self.window, self.state)
        try:
            await self.desk.start()
            await self.settle()
            yield self.window
        finally:
            await self.desk.aclose()
            self.window.close()
            self.window.deleteLater()

    async def settle(self, seconds: float = 0.06) -> None:
        """Let tasks, timers and paints of the next moment happen."""
        await asyncio.sleep(seconds)


@pytest.fixture
def stage(look: Look, tmp_path: Path) -> Stage:
    """A window that is not shown yet."""
    return Stage(look, tmp_path)
