"""Pictures of the Activity tab and the Settings sheet: `python -m tests.gui.gallery_activity FOLDER [STATE …]`."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from app.desk import Desk
from app.theme import Look, ThemeMode
from app.windows.main_window import MainWindow
from core.activity import Activity, DoneJob, Health, JobState, KindCount, Outcome, QueuedJob, StepSuccess
from core.model import SessionId
from tests.app.scripted import ScriptedEngine
from tests.gui.gallery import ROOT, fill

TITLES = {
    False: ("PostgreSQL 16 cutover of the billing service", "Lemon cake for Sunday", "Trip to Kyoto"),
    True: ("账单服务迁移到 PostgreSQL 16", "周日的柠檬蛋糕", "京都之行：红叶、寺庙和想去的几家小店"),
}


def job(number: int, kind: str, title: str, state: JobState, **given: object) -> QueuedJob:
    fields: dict[str, Any] = {"id": number, "kind": kind, "session_id": SessionId("s"), "title": title, "attempts": 1}
    fields |= {"state": state, **given}
    return QueuedJob(**fields)


def sample(now: float, *, chinese: bool = False) -> Activity:
    """Work in every state, by two processes."""
    first, second, third = TITLES[chinese]
    jobs, app = "keepsake-jobs, pid 48213", "Keepsake, pid 47102"
    full = "The disk is full: MEMORY.md could not be written. The file is as it was. Free some space and try again."
    ends = (
        ("recap", Outcome.DONE, jobs, first, 4.2, 1, ""),
        ("memory_update", Outcome.DONE, app, second, 0.1, 1, ""),
        ("memory_files", Outcome.GAVE_UP, app, first, 0.0, 1, full),
        ("extract", Outcome.TAKEN_OVER, "keepsake-jobs, pid 48190", third, 0.0, 1, ""),
        ("remember", Outcome.DONE, jobs, "", 0.0, 214, ""),
        ("twin", Outcome.DONE, jobs, "", 0.0, 214, ""),
    )
    return Activity(
        running=(
            job(1, "recap", third, JobState.RUNNING, owner=jobs, started_at=now - 20),
            job(2, "vectors", first, JobState.RUNNING, owner=app, started_at=now - 130),
        ),
        waiting=(
            job(3, "extract", second, JobState.WAITING),
            job(4, "recap", first, JobState.BACK_OFF, due_at=now + 540, attempts=2, error="The model took too long."),
        ),
        failed=(job(5, "memory_files", first, JobState.FAILED, attempts=3, error=full),),
        counts=(KindCount(kind="extract", waiting=1), KindCount(kind="recap", back_off=1, running=1)),
        recent=tuple(
            DoneJob(
                id=100 - i, at=now - 50 * i * i, kind=kind, outcome=outcome, owner=owner, title=title, took_s=took_s,
                times=times, error=error,
            )
            for i, (kind, outcome, owner, title, took_s, times, error) in enumerate(ends)
        ),
        successes=(
            StepSuccess(kind="recap", at=now - 10, owner=jobs),
            StepSuccess(kind="memory_files", at=now - 90_000, owner=app),
        ),
        health=Health(
            turns_to_remember=2,
            recaps_missing=(("No model has shown that it can sum up.", 3),),
            vectors_missing=11,
            refused_writes=1,
            redactions=(("password", 2), ("api_key", 1)),
        ),
    )  # fmt: skip


async def take(app: QApplication, folder: Path, states: list[str]) -> None:
    for state in states:
        look = Look(app, ROOT / "resources" / "themes")
        look.apply(
            mode=ThemeMode.DARK if "dark" in state else ThemeMode.LIGHT, zoom_percent=150 if "zoom" in state else 100
        )
        settings = QSettings(str(folder / "state.ini"), QSettings.Format.IniFormat)
        settings.clear()
        settings.setValue("conversation", "zh" if "chinese" in state else "pg")
        window = MainWindow(look, settings)
        window.resize(1440, 1000)
        engine = ScriptedEngine()
        engine.now = time.time()
        fill(engine)
        desk = Desk(cast(Any, engine), window, settings)
        window.show()
        await desk.start()
        shown: QWidget = window
        if "settings" in state:
            if "fixed" in state:
                engine.settings.environment = {"KEEPSAKE_LEARNING_RECAP_ENABLED": "no"}
            desk.pages.open_settings()
            await asyncio.sleep(0.3)
            sheet = desk.pages.settings_sheet
            assert sheet is not None
            if "end" in state:
                sheet._body.verticalScrollBar().setValue(10_000)  # type: ignore[union-attr]
            if "error" in state:
                engine.settings.refuse = (
                    "settings.toml cannot be written (no space left on device). Nothing was changed."
                )
                sheet.changed.emit("learning.recap_enabled", "off")
            shown = sheet
        else:
            if "rest" not in state:
                engine.activity.shown = sample(engine.now, chinese="chinese" in state)
            window.show_tab("Activity")
            if "end" in state:
                await asyncio.sleep(0.3)
                window.activity.area.verticalScrollBar().setValue(10_000)
        await asyncio.sleep(0.5)
        shown.grab().save(str(folder / f"{state}.png"))
        await desk.aclose()
        window.close()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    states = sys.argv[2:] or [
        "activity", "activity-dark", "activity-chinese", "activity-zoom150", "activity-rest", "activity-end",
        "settings", "settings-dark", "settings-end", "settings-zoom150", "settings-fixed", "settings-error",
    ]  # fmt: skip
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(take(app, folder, states))


if __name__ == "__main__":
    main()
