"""What the galleries share: each state on a stage of its own, in its theme, zoom and language, and the picture of it.

The name of a state says how it is dressed: `dark`, `zoom150`, `zoom200` and `chinese` in it count in every gallery.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from app.theme import Look, ThemeMode
from tests.gui.stage import Stage

ROOT = Path(__file__).resolve().parents[2]
SETTLE_S = 0.3

Fill = Callable[[str, Stage], None]  # puts what is to be seen into the engine, before the window is shown
Prepare = Callable[[str, Stage], Awaitable[QWidget | None]]  # opens what is to be seen; returns it if not the window


def take_pictures(states: Sequence[str], fill: Fill, prepare: Prepare, *, prefix: str = "") -> None:
    """Picture the states that the command line names after the folder, or all: `<folder>/<prefix><state>.png`."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)

    async def take() -> None:
        for state in sys.argv[2:] or states:
            await picture(app, state, fill, prepare, folder / f"{prefix}{state}.png")

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(take())


async def picture(app: QApplication, state: str, fill: Fill, prepare: Prepare, file: Path) -> None:
    """Bring one state about and save what it looks like."""
    zoom = next((percent for percent in (150, 200) if f"zoom{percent}" in state), 100)
    look = Look(app, ROOT / "resources" / "themes")
    look.apply(mode=ThemeMode.DARK if "dark" in state else ThemeMode.LIGHT, zoom_percent=zoom)
    with tempfile.TemporaryDirectory() as remembered:
        stage = Stage(look, Path(remembered))
        stage.engine.now = time.time()
        stage.state.setValue("conversation", "zh" if "chinese" in state else "pg")
        fill(state, stage)
        async with stage.playing() as window:
            shown = await prepare(state, stage) or window
            await stage.settle(SETTLE_S)
            shown.grab().save(str(file))
