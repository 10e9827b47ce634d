"""Pictures of the Memory tab in many states: `python -m tests.gui.gallery_memory FOLDER [STATE …]`."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.rendering.memory_rows import Act
from core.model import (
    ChangeKind,
    LineChange,
    LineState,
    MemoryDiff,
    MemoryLine,
    MemorySection,
    Origin,
    ParkedLine,
    Section,
    SessionId,
    TurnId,
    WantedLine,
    WorkingMemory,
)
from tests.gui.gallery import fill, line, sample_memory
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

STATES = (
    "memory",
    "dark",
    "chinese",
    "zoom150",
    "zoom200",
    "narrow",
    "lines200",
    "old",
    "edit",
    "add",
    "menu",
    "toast",
)


def rich_memory(session: SessionId, now: float) -> WorkingMemory:
    """Lines of every origin and state, a lock with a proposal, lines set aside."""
    base = sample_memory(session, now)
    kept = LineState.KEPT
    facts = (
        MemoryLine(text="Cutover on 2026-12-14 at 09:00, chosen because traffic is lowest.", origin=Origin.USER,
                   state=kept, turns=(TurnId(3),), locked=True),
        MemoryLine(text="Tomasz approved the last rollback.", origin=Origin.MODEL, state=kept, turns=(TurnId(11),)),
        line("Staging database is db-stg-3, port 6432.", LineState.ADDED, 24),
    )  # fmt: skip
    wanted = (WantedLine(line=facts[0].text, text="Cutover on 2026-12-15 at 09:00.", turns=(TurnId(24),)),)
    parked = (
        ParkedLine(text="Is the standby in the same rack?", reason="Two updates in a row left it out. You decide "
                   "whether it may go.", turns=(TurnId(12),)),
        ParkedLine(text="Who renews the certificate?", reason="The list is full, so its oldest lines wait here."),
    )  # fmt: skip

    def fill_section(part: MemorySection) -> MemorySection:
        if part.section is Section.FACTS:
            return replace(part, lines=facts, wanted=wanted)
        return replace(part, parked=parked) if part.section is Section.ISSUES else part

    numbers = {TurnId(t): n for n, t in enumerate((3, 9, 11, 12, 18, 24, 25), start=1)}
    return replace(base, sections=tuple(map(fill_section, base.sections)), turn_numbers=numbers,
                   undo="you locked “Cutover on 2026-12-14”")  # fmt: skip


def long_memory(session: SessionId, now: float, lines: int = 200) -> WorkingMemory:
    """A memory of many lines, most of them long."""
    base = rich_memory(session, now)
    text = "Fact {n}: the service {n} listens on port {n} and is owned by team {n}, who prefer to deploy on Tuesdays."

    def fill_section(part: MemorySection) -> MemorySection:
        if part.section not in (Section.FACTS, Section.GOALS, Section.FILES, Section.ERRORS):
            return part
        made = tuple(line(text.format(n=n), LineState.KEPT, n + 1) for n in range(lines // 4))
        return replace(part, lines=made, tokens=1_900,
                       warning=f"{lines // 4} lines, more than 25: at each update five new facts enter, the others "
                       "wait beside it.")  # fmt: skip

    return replace(base, sections=tuple(map(fill_section, base.sections)))


def set_scene(state: str, stage: Stage) -> None:
    """Twelve versions of a memory, and how the last two differ."""
    engine = stage.engine
    fill(engine)
    session = SessionId("pg")
    newest = (long_memory if state == "lines200" else rich_memory)(session, engine.now)
    old = replace(newest, version=11, cause="A segment closed.", committed_at=engine.now - 3_600)
    engine.memories[session] = [old] * 11 + [newest]
    engine.memory.diff = MemoryDiff(
        older=11,
        newer=12,
        changes=(
            LineChange(section=Section.STATE, kind=ChangeKind.CHANGED, before="Drafting the runbook.",
                       after="Runbook drafted; rehearsal waits for a sign-off."),
            LineChange(section=Section.FACTS, kind=ChangeKind.CAME, before="",
                       after="Staging database is db-stg-3, port 6432."),
            LineChange(section=Section.ISSUES, kind=ChangeKind.RESTORED, before="", after="Who signs off the rollback?",
                       reason="The model left it out without saying it was resolved, so it was kept."),
        ),
    )  # fmt: skip
    if state == "narrow":
        stage.window.resize(700, 900)


async def prepare(state: str, stage: Stage) -> None:
    """Bring the tab into a state."""
    tab = stage.window.memory
    await stage.settle(0.15)
    keys = [row.key for row in tab.list.rows.rows()]
    facts = [key for key in keys if key.startswith(f"line:{Section.FACTS}")]
    if state in ("memory", "dark", "zoom150", "narrow", "lines200"):
        tab.list.setFocus(Qt.FocusReason.TabFocusReason)
        tab.list.select_key(facts[1])
        tab.list.fold_requested.emit(Section.ISSUES)
    if state == "old":
        tab.version_chosen.emit(11)
        await stage.settle(0.1)
        tab.versions.changes_button.click()
    if state == "edit":
        tab.list.edit_row(facts[0])
        QTest.keyClicks(QApplication.focusWidget(), " Priya agreed to it in the meeting on Monday, and so did Tomasz.")
    if state == "add":
        tab.start_line(Section.GOALS)
    if state == "menu":
        tab.list.select_key(facts[1])
        row = tab.list.current_row()
        assert row is not None
        tab.list.make_menu(row).popup(tab.list.mapToGlobal(tab.list.rect().center()))
    if state == "toast":
        tab.list.select_key(facts[1])
        tab.list.act(Act.REMOVE)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare)
