"""Pictures of the Files tab in its states: `python -m tests.gui.gallery_files FOLDER [STATE …]`."""

from dataclasses import replace

from core.memory_files.entries import read_entries
from core.memory_files.history import OUTSIDE_ACTOR, OUTSIDE_CAUSE
from core.model import FileChange, GoalKind, GoalProposal, GoalsState, MemoryFile, Place, SessionId, TurnId
from tests.app.scripted import ScriptedEngine
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

STATES = ("read", "dark", "entries", "darkentries", "edit", "text", "chinese", "zoom150", "goals", "warning", "busy")
OWN = (
    "- preference: I prefer short answers",
    "- fact: My sister Alma lives in Porto and comes to see us every other spring, mostly by train",
    "- pattern: The nightly export runs at 02:30; it must not touch the archive.",
)
ENGLISH = f"## About you\n{OWN[0]}\n{OWN[1]}\n- Allergic to walnuts\n\n## Ways of working\n{OWN[2]}\n"
CHINESE_OWN = ("- preference: 回答请尽量简短", "- fact: 我妹妹住在成都，每年春天会坐火车来看我们")
CHINESE = f"## 关于你\n{CHINESE_OWN[0]}\n{CHINESE_OWN[1]}\n- 对花生过敏\n"
GOALS = "# Long-term Goals\n\n- [g1] Speak Portuguese by the summer of 2027\n- [g2] Run a half marathon\n"


def fill(engine: ScriptedEngine, *, chinese: bool = False, warning: str = "") -> None:
    """Put files, changes and proposals there."""
    now = engine.now
    session = engine.add("PostgreSQL 16 cutover plan", id="pg", preview="Port is 6432", updated_at=now).id
    engine.add_turn(session, "Which export runs at night?", "The one at 02:30.")
    text, own = (CHINESE, CHINESE_OWN) if chinese else (ENGLISH, OWN)
    before = text.replace(own[-1] + "\n", "")
    change = FileChange(
        id=3,
        file="MEMORY.md",
        at=now - 130,
        actor="Keepsake",
        cause="The librarian kept it of a part of a conversation that had ended.",
        turns=(TurnId(24), TurnId(27), TurnId(31)),
        before=before,
        after=text,
    )
    mine = replace(
        change,
        id=2,
        at=now - 9_000,
        actor=OUTSIDE_ACTOR,
        cause=OUTSIDE_CAUSE,
        turns=(),
        before=before[:60],
        after=before,
    )
    plan = Place(session_id=session, title="PostgreSQL 16 cutover of the billing service")
    cake = Place(session_id=SessionId("cake"), title="周日的蛋糕" if chinese else "Lemon cake for Sunday")
    places = {TurnId(24): plan, TurnId(27): cake, TurnId(31): plan}
    path = "/home/ada/.local/share/Keepsake/workspaces/default"
    engine.files.held = (
        MemoryFile(
            name="MEMORY.md",
            path=f"{path}/MEMORY.md",
            text=text,
            changes=(change, mine),
            warning=warning,
            entries=read_entries(text, own),
            places=places,
        ),
        MemoryFile(name="SKILL.md", path=f"{path}/SKILL.md", text=""),
        MemoryFile(
            name="MEMORY_GOALS.md", path=f"{path}/MEMORY_GOALS.md", text=GOALS, entries=read_entries(GOALS, GOALS)
        ),
    )
    edit = GoalProposal(
        id=1,
        kind=GoalKind.EDIT,
        goal_id="g2",
        before="Run a half marathon",
        text="Run a marathon",
        turns=(TurnId(24),),
        why="The goal is yours, so it is only proposed.",
        at=now,
        places={TurnId(24): plan},
    )
    engine.goals.held = GoalsState(goals=(), proposals=(edit,))


def set_scene(state: str, stage: Stage) -> None:
    """The files in the language of the state."""
    linked = "MEMORY.md has a second name (a hard link), which keeps the old text when Keepsake writes."
    fill(stage.engine, chinese=state == "chinese", warning=linked if state == "warning" else "")


async def prepare(state: str, stage: Stage) -> None:
    """Bring the tab into a state."""
    tab = stage.window.files
    stage.window.show_tab("Files")
    await stage.settle(0.3)
    if "entries" in state or state in ("edit", "chinese", "zoom150"):
        tab._on_edit()
    await stage.settle(0.1)
    if state == "edit":
        tab.entries.rows[1].edit.click()
    if state == "text":
        tab._on_edit_text()
    if state == "goals":
        tab.choose("MEMORY_GOALS.md")
    if state == "busy":
        tab._on_edit()
        tab.set_busy(True)
        await stage.settle(0.5)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare, prefix="files-")
