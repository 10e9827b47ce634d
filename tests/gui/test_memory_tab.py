"""The Memory tab on the production loop: by pointer and by keys, live, and never losing what is typed."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.rendering.memory_rows import Act, Row, RowKind
from app.views.memory.editor import LineEditor
from core.changes import Changes
from core.errors import MemoryEditError
from core.model import (
    LineState,
    MemoryLine,
    MemorySection,
    MemoryVersion,
    Origin,
    ParkedLine,
    Section,
    SessionId,
    TurnId,
    WantedLine,
    WorkingMemory,
)
from tests.app.scripted import empty_memory
from tests.gui.gallery_memory import long_memory

A = SessionId("a")
FACTS, ISSUES = Section.FACTS, Section.ISSUES


def line(text: str, state: LineState = LineState.KEPT, **fields) -> MemoryLine:
    return MemoryLine(text=text, origin=Origin.HEURISTIC, state=state, **{"turns": (TurnId(3), TurnId(7)), **fields})


def memory(*lines: MemoryLine, number: int = 1, newest: int = 1, **fields) -> WorkingMemory:
    base = empty_memory(A)
    facts = MemorySection(section=FACTS, lines=lines, tokens=9, **fields)
    sections = tuple(facts if s.section is FACTS else s for s in base.sections)
    numbers = {TurnId(3): 1, TurnId(7): 2}
    return replace(base, version=number, newest=newest, committed_at=1.0, sections=sections, turn_numbers=numbers)


async def until(holds) -> None:
    """Wait for what must become true; the loop's own limit ends a wait in vain."""
    while not holds():
        await asyncio.sleep(0.01)


def rows(window) -> list[Row]:
    return list(window.memory.list.rows.rows())


def texts(window) -> list[str]:
    return [row.text for row in rows(window) if row.kind is RowKind.LINE]


def select(window, text: str, kind: RowKind = RowKind.LINE) -> None:
    tab = window.memory.list
    tab.setFocus(Qt.FocusReason.TabFocusReason)
    tab.select_key(next(row.key for row in rows(window) if row.kind is kind and text in (row.text, row.shown)))


def key(widget: QWidget, *pressed, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    for one in pressed:
        QTest.keyClick(widget, one, modifiers)


def editor() -> LineEditor:
    found = QApplication.focusWidget()
    assert isinstance(found, LineEditor)
    return found


def zone(window, text: str, target: str) -> QPoint:
    """Where a clickable place of a row is, in the list's viewport."""
    tab = window.memory.list
    row = next(row for row in rows(window) if text in (row.text, row.shown))
    place = next(z.rect for z in tab.painter_.laid_at(row).zones if z.target == target)
    return tab.visualRect(tab.rows.find(row.key)).topLeft() + place.center()


def click(window, text: str, target: str) -> None:
    QTest.mouseClick(window.memory.list.viewport(), Qt.MouseButton.LeftButton, pos=zone(window, text, target))


def change(stage, new: WorkingMemory) -> None:
    stage.engine.memories[A] = [new]
    stage.engine.publish(Changes(memory=frozenset({A})))


def asked(stage) -> list[tuple[object, ...]]:
    return stage.engine.memory.asked


def open_with(stage, *versions: WorkingMemory) -> None:
    stage.engine.add("talk", id="a")
    stage.engine.memories[A] = list(versions)


async def test_all_seven_sections_are_shown_and_follow_changes_in_place(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        heads = [row.shown for row in rows(window) if row.kind is RowKind.HEAD]
        assert heads == [section.value for section in Section]
        select(window, "Port is 5432.")
        change(stage, memory(line("First."), line("Port is 5432."), line("Ana is out.", LineState.PENDING)))
        await until(lambda: len(texts(window)) == 3)
        assert window.memory.list.current_row().text == "Port is 5432."
        assert window.memory.update_button.isVisible()


async def test_evidence_leads_to_the_turn_and_is_counted_in_the_conversation(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        jumps = []
        window.memory.turn_requested.connect(jumps.append)
        labels = [z.label for z in window.memory.list.painter_.laid_at(rows(window)[4]).zones]
        assert labels == ["turns 1, ", "2"]
        click(window, "Port is 5432.", "turn:3")
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_G)
        assert jumps == [3, 7]


async def test_enter_edits_in_place_and_enter_saves(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Return)
        assert editor().toPlainText() == "Port is 5432."
        editor().selectAll()
        QTest.keyClicks(editor(), "Port is 6432.")
        key(editor(), Qt.Key.Key_Return)
        await until(lambda: asked(stage))
        assert asked(stage) == [("change", FACTS, "Port is 5432.", "Port is 6432.")]
        assert window.memory.list.hasFocus()


async def test_escape_gives_up_and_unchanged_text_asks_for_nothing(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        for last in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
            key(window.memory.list, Qt.Key.Key_F2)
            if last == Qt.Key.Key_Escape:
                QTest.keyClicks(editor(), " more")
            key(editor(), last)
            await stage.settle()
            assert asked(stage) == []
            assert window.memory.list.hasFocus()


async def test_clicking_elsewhere_keeps_what_was_typed(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Return)
        QTest.keyClicks(editor(), " Yes")
        window.chat.composer.entry.setFocus(Qt.FocusReason.MouseFocusReason)
        await until(lambda: asked(stage))
        assert asked(stage) == [("change", FACTS, "Port is 5432.", "Port is 5432. Yes")]


async def test_an_edit_that_cannot_be_made_opens_the_editor_again_with_the_users_text(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Return)
        QTest.keyClicks(editor(), " and mine")
        stage.engine.fail_next = MemoryEditError("Another line says that already.")
        key(editor(), Qt.Key.Key_Return)
        await until(lambda: isinstance(QApplication.focusWidget(), LineEditor))
        assert editor().toPlainText() == "Port is 5432. and mine"
        assert window.memory._pending.text() == "Another line says that already."


async def test_a_line_that_goes_while_it_is_edited_leaves_the_typed_text_as_a_new_line(stage):
    open_with(stage, memory(line("Port is 5432."), line("Kyoto.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Return)
        QTest.keyClicks(editor(), " and mine")
        change(stage, memory(line("Kyoto.")))
        await until(lambda: texts(window) == ["Kyoto."])
        await stage.settle()
        assert editor().toPlainText() == "Port is 5432. and mine"
        key(editor(), Qt.Key.Key_Return)
        await until(lambda: asked(stage))
        assert asked(stage) == [("add", FACTS, "Port is 5432. and mine")]


async def test_a_refresh_leaves_the_open_editor_alone(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Return)
        QTest.keyClicks(editor(), " and mine")
        change(stage, memory(line("Above."), line("Port is 5432.")))
        await until(lambda: len(texts(window)) == 2)
        await stage.settle()
        assert editor().toPlainText() == "Port is 5432. and mine"
        assert editor().geometry().top() > window.memory.list.visualRect(window.memory.list.rows.index(4)).top()


async def test_n_adds_a_line_to_the_section_at_hand(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_N)
        QTest.keyClicks(editor(), "Kyoto in May")
        key(editor(), Qt.Key.Key_Return)
        await until(lambda: asked(stage))
        assert asked(stage) == [("add", FACTS, "Kyoto in May")]
        await until(lambda: not [row for row in rows(window) if row.kind is RowKind.DRAFT])
        click(window, "Open Issues", "add")
        key(editor(), Qt.Key.Key_Escape)
        await stage.settle()
        assert not [row for row in rows(window) if row.kind is RowKind.DRAFT]


async def test_delete_removes_and_the_toast_undoes(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Delete)
        await until(window.toast.isVisible)
        assert asked(stage) == [("remove", FACTS, "Port is 5432.")]
        window.toast._undo.click()
        await until(lambda: len(asked(stage)) == 2)
        assert asked(stage)[1] == ("undo",)
        assert stage.engine.conversations  # the toast's Undo is of what it said, not of a conversation


@pytest.mark.parametrize(
    ("pressed", "modifiers", "expected"),
    [
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, ("undo",)),
        (Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier, ("redo",)),
        (Qt.Key.Key_L, Qt.KeyboardModifier.NoModifier, ("set_locked", FACTS, "Port is 5432.", True)),
    ],
)
async def test_keys_of_the_list(stage, pressed, modifiers, expected):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, pressed, modifiers=modifiers)
        await until(lambda: asked(stage))
        assert asked(stage) == [expected]


async def test_m_offers_the_other_sections(stage):
    open_with(stage, memory(line("Port is 5432.")))
    async with stage.playing() as window:
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_M)
        menu = next(m for m in window.memory.list.findChildren(QMenu) if m.isVisible())
        names = [action.text() for action in menu.actions()]
        assert names == [s.value for s in Section if s not in (Section.TITLE, FACTS)]
        menu.actions()[-1].trigger()
        menu.close()
        await until(lambda: asked(stage))
        assert asked(stage) == [("move", FACTS, "Port is 5432.", ISSUES)]


async def test_pending_parked_and_wanted_lines_are_decided_by_click_and_by_key(stage):
    given = memory(
        line("Port is 5432.", locked=True),
        line("Ana is out.", LineState.PENDING),
        parked=(ParkedLine(text="Old fact.", reason="It waits."),),
        wanted=(WantedLine(line="Port is 5432.", text="Port is 6432."),),
    )
    open_with(stage, given)
    async with stage.playing() as window:
        click(window, "Ana is out.", Act.KEEP)
        select(window, "Ana is out.")
        key(window.memory.list, Qt.Key.Key_Delete)
        click(window, "Port is 6432.", Act.TAKE)
        select(window, "Port is 6432.", RowKind.WANTED)
        key(window.memory.list, Qt.Key.Key_Delete)
        select(window, "▸ 1 line set aside", RowKind.FOLD)
        key(window.memory.list, Qt.Key.Key_Right)
        select(window, "Old fact.", RowKind.PARKED)
        key(window.memory.list, Qt.Key.Key_Return)
        click(window, "Old fact.", Act.DROP)
        await until(lambda: len(asked(stage)) == 6)
        assert set(asked(stage)) == {
            ("accept", FACTS, "Ana is out."),
            ("discard", FACTS, "Ana is out."),
            ("take_wanted", FACTS, "Port is 5432.", "Port is 6432."),
            ("drop", FACTS, "Port is 6432."),
            ("bring_back", FACTS, "Old fact."),
            ("drop", FACTS, "Old fact."),
        }


async def test_arrows_walk_through_all_rows_and_the_buttons_follow(stage):
    open_with(stage, memory(line("Port is 5432."), line("Ana is out.", LineState.PENDING)))
    async with stage.playing() as window:
        tab = window.memory
        tab.list.setFocus(Qt.FocusReason.TabFocusReason)
        seen = []
        for _ in rows(window):
            seen.append(tab.list.current_row().key)
            buttons = {act for act, button in tab.actions_.buttons.items() if button.isVisible()}
            assert buttons == set(tab.list.current_row().acts) & set(tab.actions_.buttons)
            key(tab.list, Qt.Key.Key_Down)
        assert seen == [row.key for row in rows(window)]


async def test_every_row_has_words_for_a_screen_reader(stage):
    open_with(stage, memory(line("Port is 5432."), parked=(ParkedLine(text="x", reason="y"),), warning="Long."))
    async with stage.playing() as window:
        model = window.memory.list.rows
        for place in range(model.rowCount()):
            assert model.data(model.index(place), Qt.ItemDataRole.AccessibleTextRole)
        assert window.memory.list.accessibleName()
        assert window.memory.list.accessibleDescription() == "1 line in 1 section"


async def test_memory_text_is_never_read_as_markup(stage):
    open_with(stage, memory(line("<img src=x> <b>bold</b>")))
    async with stage.playing() as window:
        row = rows(window)[4]
        assert window.memory.list.painter_.laid_at(row).text.text() == "<img src=x> <b>bold</b>"


async def test_an_old_version_is_read_compared_and_restored(stage):
    old = memory(line("Port is 5432."), number=1, newest=2)
    open_with(stage, replace(old, cause="A segment closed."), memory(line("Port is 6432."), number=2, newest=2))
    async with stage.playing() as window:
        versions = window.memory.versions
        assert not versions.old.isVisible()
        versions.slider.setValue(1)
        await until(versions.old.isVisible)
        assert "v1" in versions.cause.text()
        assert versions.cause.text().endswith("Why v1 was made: a segment closed.")
        select(window, "Port is 5432.")
        key(window.memory.list, Qt.Key.Key_Delete)
        key(window.memory.list, Qt.Key.Key_Return)
        assert not window.memory.actions_.isVisible()
        versions.changes_button.click()
        await until(versions.difference.isVisible)
        versions.restore_button.click()
        await until(lambda: not versions.old.isVisible())
        assert asked(stage) == [("restore", 1)]


async def test_what_an_update_could_not_do_is_said_at_the_top(stage):
    given = memory(line("one"))
    open_with(stage, replace(given, mode="select", notes=("The model stopped, so Open Issues was left out.",)))
    async with stage.playing() as window:
        note = window.memory.note
        assert note.isVisible()
        assert "The model stopped" in note._text.accessibleName()
        note._on_toggle()
        assert note._list_text.text().startswith("The model chose these lines")


async def test_undo_stands_beside_the_versions_while_there_is_something_to_undo(stage):
    open_with(stage, replace(memory(line("one")), undo="you removed “two”"))
    async with stage.playing() as window:
        button = window.memory.versions.undo_button
        assert (button.isVisible(), button.accessibleName()) == (True, "Undo: you removed “two”")
        button.click()
        await until(lambda: asked(stage))
        assert asked(stage) == [("undo",)]
        change(stage, memory(line("one"), line("two")))
        await until(lambda: not button.isVisible())


async def test_the_slider_says_when_and_why_before_it_is_let_go(stage):
    open_with(stage, memory(number=1, newest=2), memory(number=2, newest=2))
    async with stage.playing() as window:
        versions = window.memory.versions
        made = MemoryVersion(number=1, at=1.0, cause="You removed “x”.", lines=3, came=0, went=1)
        versions.show_versions([made])
        versions.slider.setValue(1)
        assert versions.slider.accessibleDescription().endswith("You removed “x”.")
        assert versions.slider.toolTip() == "You removed “x”. 1 went. 3 lines."


async def test_new_lines_glow_once_and_coming_back_from_an_old_version_lights_nothing_up(stage):
    one, two = memory(line("one"), number=1, newest=2), memory(line("one"), line("two"), number=2, newest=2)
    open_with(stage, one, two)
    async with stage.playing() as window:
        tab = window.memory
        tab.version_chosen.emit(1)
        await until(lambda: texts(window) == ["one"])
        tab.versions.newest_button.click()
        await until(lambda: texts(window) == ["one", "two"])
        assert tab.list.painter_.glowing == set()
        third = memory(line("one"), line("two"), line("three"), number=3, newest=3)
        stage.engine.memories[A] = [one, two, third]
        stage.engine.publish(Changes(memory=frozenset({A})))
        await until(lambda: len(texts(window)) == 3)
        assert {k.split(":")[-1] for k in tab.list.painter_.glowing} == {"three"}


async def test_a_narrow_pane_shows_the_newest_evidence_and_leaves_room_for_the_words(stage):
    open_with(stage, memory(line("word " * 20, turns=tuple(TurnId(t) for t in (7, 8, 9)))))
    async with stage.playing() as window:

        def targets() -> list[str]:
            return [z.target for z in window.memory.list.painter_.laid_at(rows(window)[4]).zones]

        assert targets() == ["turn:7", "turn:8", "turn:9"]
        window.splitter.setSizes([264, 876, 300])
        await until(lambda: targets() == ["turn:9"])
        assert rows(window)[4].spoken.endswith("from turns 2, 8–9")


async def test_two_hundred_lines_keep_the_readers_place_when_one_comes(stage):
    many = replace(long_memory(A, 1.0), session_id=A)
    open_with(stage, many)
    async with stage.playing() as window:
        tab = window.memory.list
        await until(lambda: len(texts(window)) > 200)
        tab.verticalScrollBar().setValue(3_000)
        top = tab.rows.row_at(tab.indexAt(QPoint(5, 1)))
        before = tab.visualRect(tab.rows.find(top.key)).top()
        goals = many.sections[2]
        more = replace(goals, lines=(line("A new goal above all."), *goals.lines))
        change(stage, replace(many, version=13, newest=13, sections=(*many.sections[:2], more, *many.sections[3:])))
        await until(lambda: "A new goal above all." in texts(window))
        await stage.settle()
        assert tab.visualRect(tab.rows.find(top.key)).top() == before


async def test_a_message_is_remembered_from_its_menu_and_from_the_menu_bar(stage):
    stage.engine.add("talk", id="a")
    turn = stage.engine.add_turn(A, "I like tea.", "Noted.")
    async with stage.playing() as window:
        view = window.chat.transcript.message_views()[0]
        menu = view.make_menu()
        next(action for action in menu.actions() if action.text() == "Remember this").trigger()
        await until(lambda: asked(stage))
        window.menus.remember_requested.emit()
        await until(lambda: len(asked(stage)) == 2)
        assert asked(stage) == [("remember", "I like tea.", turn)] * 2
