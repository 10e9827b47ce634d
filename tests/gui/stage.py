"""A window with a scripted engine behind it, for tests and for the galleries of pictures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QSettings

from app.desk import Desk
from app.theme import Look
from app.windows.main_window import MainWindow
from tests.app.scripted import ScriptedEngine


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
