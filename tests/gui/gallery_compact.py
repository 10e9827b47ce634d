"""Pictures of a compact and its failures in the Memory tab: `python -m tests.gui.gallery_compact FOLDER [STATE …]`."""

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.desk import Desk
from app.theme import Look, ThemeMode
from app.windows.main_window import MainWindow
from core.model import CommitStep, FailedArchive, FailedStage, SessionId
from tests.app.scripted import ScriptedEngine
from tests.gui.gallery import ROOT, fill

STATES = ("running", "darkrunning", "done", "failed", "darkfailed", "zoom150failed")


def give_up(engine: ScriptedEngine, session: SessionId) -> None:
    """Leave an archive to the user's retry."""
    stage = FailedStage(
        stage="memory",
        error="The model did not answer in time. Its messages are safe; the model sees them as they are until then.",
        attempts=3,
        at=engine.now,
    )
    engine.commits.failed = (
        FailedArchive(session_id=session, number=4, archived_at=engine.now - 700, in_memory=False, stages=(stage,)),
    )


async def take(app: QApplication, folder: Path, states: list[str]) -> None:
    """Take a picture of each state."""
    for state in states:
        engine = ScriptedEngine()
        fill(engine)
        for session in engine.conversations:
            if "failed" in state and session == max(engine.messages, key=lambda s: len(engine.messages[s])):
                give_up(engine, session)
        settings = QSettings(str(folder / "none.ini"), QSettings.Format.IniFormat)
        settings.clear()
        settings.setValue("conversation", max(engine.messages, key=lambda s: len(engine.messages[s])))
        look = Look(app, ROOT / "resources" / "themes")
        mode = ThemeMode.DARK if state.startswith("dark") else ThemeMode.LIGHT
        look.apply(mode=mode, zoom_percent=150 if "zoom150" in state else 100)
        window = MainWindow(look, settings)
        window.resize(1440, 900)
        window.show()
        desk = Desk(cast(Any, engine), window, settings)
        await desk.start()
        await asyncio.sleep(0.3)
        if "failed" not in state:
            window.menus.compact_requested.emit()
            await asyncio.sleep(0.1)
            if engine.commits.progress is not None:
                engine.commits.progress(CommitStep.UPDATING)
        if state == "done":
            engine.commits.gate.set()
        await asyncio.sleep(0.4)
        window.grab().save(str(folder / f"compact-{state}.png"))
        await desk.aclose()
        window.close()
        window.deleteLater()


def main() -> None:
    """Take the pictures that the command line names, or all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(take(app, folder, sys.argv[2:] or list(STATES)))


if __name__ == "__main__":
    main()
