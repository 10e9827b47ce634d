"""Pictures of a compact and its failures in the Memory tab: `python -m tests.gui.gallery_compact FOLDER [STATE …]`."""

from core.model import CommitStep, FailedArchive, FailedStage, SessionId
from tests.app.scripted import ScriptedEngine
from tests.gui.gallery import fill
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

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


def set_scene(state: str, stage: Stage) -> None:
    """The conversation that is compacted, with an archive that failed."""
    fill(stage.engine)
    if "failed" in state:
        give_up(stage.engine, SessionId("pg"))


async def prepare(state: str, stage: Stage) -> None:
    """Begin a compact, and let it end."""
    commits = stage.engine.commits
    await stage.settle(0.3)
    if "failed" not in state:
        stage.window.menus.compact_requested.emit()
        await stage.settle(0.1)
        if commits.progress is not None:
            commits.progress(CommitStep.UPDATING)
    if state == "done":
        commits.gate.set()
    await stage.settle(0.1)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare, prefix="compact-")
