"""Pictures of the Activity tab and the Settings sheet: `python -m tests.gui.gallery_activity FOLDER [STATE …]`."""

from typing import Any

from PySide6.QtWidgets import QWidget

from core.activity import Activity, DoneJob, Health, JobState, KindCount, Outcome, QueuedJob, StepSuccess
from core.model import SessionId
from tests.gui.gallery import fill
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

STATES = (
    "activity", "activity-dark", "activity-chinese", "activity-zoom150", "activity-rest", "activity-end",
    "settings", "settings-dark", "settings-end", "settings-zoom150", "settings-fixed", "settings-error",
)  # fmt: skip
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


def set_scene(state: str, stage: Stage) -> None:
    """Work in every state, or none."""
    fill(stage.engine)
    if "activity" in state and "rest" not in state:
        stage.engine.activity.shown = sample(stage.engine.now, chinese="chinese" in state)
    if "fixed" in state:
        stage.engine.settings.environment = {"KEEPSAKE_LEARNING_RECAP_ENABLED": "no"}
    stage.window.resize(1440, 1000)


async def prepare(state: str, stage: Stage) -> QWidget | None:
    """Open the tab, or the sheet."""
    if "settings" in state:
        return await prepare_settings(state, stage)
    stage.window.show_tab("Activity")
    await stage.settle(0.3)
    if "end" in state:
        stage.window.activity.area.verticalScrollBar().setValue(10_000)
    return None


async def prepare_settings(state: str, stage: Stage) -> QWidget:
    assert stage.desk is not None
    stage.desk.pages.open_settings()
    await stage.settle(0.3)
    sheet = stage.desk.pages.settings_sheet
    assert sheet is not None
    assert sheet._body is not None
    if "end" in state:
        sheet._body.verticalScrollBar().setValue(10_000)
    if "error" in state:
        stage.engine.settings.refuse = "settings.toml cannot be written (no space left on device). Nothing was changed."
        sheet.changed.emit("learning.recap_enabled", "off")
        await stage.settle(0.2)
    return sheet


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare)
