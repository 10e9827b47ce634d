"""Fixtures of window tests: the production loop, a look, and a window with a scripted engine behind it.

A test that is a coroutine runs on the production loop.
"""

import asyncio
import gc
import inspect
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.theme import Look, ThemeMode
from tests.gui.stage import Stage

BLOCKED_S = 0.5  # a step longer than this is a bug; generous, for test machines are busy

RUN = pytest.StashKey[Callable[..., None]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "may_block(seconds): a step of the test may take that long")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine; None leaves the others to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    may_block = pyfuncitem.get_closest_marker("may_block")
    pyfuncitem.stash[RUN](pyfuncitem.obj(**given), may_block.args[0] if may_block else BLOCKED_S)
    return True


@pytest.fixture(autouse=True)
def runs_on_qt_loop(request: pytest.FixtureRequest, on_qt_loop: Callable[..., None]) -> None:
    """Give `pytest_pyfunc_call` the loop."""
    request.node.stash[RUN] = on_qt_loop


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
def has_qt(qapp: QApplication) -> None:
    """Every test here runs with Qt, and by the rule for such tests (`collect_qt_on_this_thread`)."""


@pytest.fixture
def look(qapp: QApplication, root: Path) -> Look:
    """The light theme at 100 %."""
    look = Look(qapp, root / "resources" / "themes")
    look.apply(mode=ThemeMode.LIGHT)
    return look


@pytest.fixture
def stage(look: Look, tmp_path: Path) -> Stage:
    """A window that is not shown yet."""
    return Stage(look, tmp_path)
