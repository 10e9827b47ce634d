"""The Files tab in the window: entries reworded and taken out, the whole text, goals that are proposed, waits said."""

import time
from dataclasses import replace

from PySide6.QtWidgets import QLabel, QPushButton

from core.model import Place, SessionId, TurnId
from tests.gui.gallery_files import fill
from tests.gui.test_memory_tab import until


def begin(stage) -> None:
    stage.engine.now = time.time()
    fill(stage.engine)


async def open_tab(window):
    window.show_tab("Files")
    await until(lambda: window.files._cards)
    return window.files


async def test_an_entry_is_reworded_where_it_stands(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        tab._edit.click()
        row = tab.entries.rows[0]
        row.edit.click()
        row.entry_edit.setPlainText("preference: I prefer\nlong answers")
        row.edit.click()
        await until(lambda: stage.engine.files.asked)
        assert stage.engine.files.asked == [
            ("change", "MEMORY.md", "preference: I prefer short answers", "preference: I prefer long answers")
        ]
        await until(lambda: row.entry_edit is None)


async def test_an_entry_that_was_taken_out_comes_back_by_the_toast(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        tab._edit.click()
        tab.entries.rows[2].remove.click()
        await until(lambda: stage.engine.files.asked == [("remove", "MEMORY.md", "Allergic to walnuts")])
        await until(window.toast.isVisible)
        window.toast.undo_requested.emit()
        await until(lambda: stage.engine.undone == [71])


async def test_leaving_an_editor_changes_nothing(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        tab._edit.click()
        row = tab.entries.rows[0]
        row.edit.click()
        row.entry_edit.setPlainText("something else")
        row.remove.click()  # says Cancel now
        assert row.entry_edit is None
        assert stage.engine.files.asked == []


async def test_a_reload_keeps_an_open_editor(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        tab._edit.click()
        row = tab.entries.rows[0]
        row.edit.click()
        row.entry_edit.setPlainText("half typed")
        stage.desk.files.refresh()
        await stage.settle()
        assert tab.entries.rows[0] is row
        assert row.entry_edit.toPlainText() == "half typed"


async def test_the_whole_text_is_saved_with_the_text_it_was_made_of(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        base = stage.engine.files.held[0].text
        tab._edit_text.click()
        tab.editor.setPlainText(base + "- mine\n")
        tab._save.click()
        await until(lambda: stage.engine.files.asked == [("save", "MEMORY.md", base + "- mine\n", base)])
        await until(lambda: not tab.editor.isVisible())


async def test_a_turn_of_a_change_leads_to_where_it_was_said(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        asked = []
        tab.turn_requested.connect(lambda session, turn: asked.append((session, turn)))
        links = [button for button in tab._cards[0].findChildren(QPushButton) if "said" in button.toolTip()]
        assert [link.text() for link in links] == [
            "in “PostgreSQL 16 cutover of the bi…”",
            "again",
            "in “Lemon cake for Sunday”",
        ]
        assert links[2].toolTip() == "Go to where it was said"
        for link in links:
            link.click()
        assert asked == [("pg", 24), ("pg", 31), ("cake", 27)]


async def test_a_change_of_a_conversation_that_is_gone_or_untitled_shows_no_number(stage):
    begin(stage)
    file, *others = stage.engine.files.held
    place = Place(session_id=SessionId("pg"))
    stage.engine.files.held = (replace(file, places={TurnId(24): place}), *others)
    async with stage.playing() as window:
        tab = await open_tab(window)
        shown = [*tab._cards[0].findChildren(QPushButton), *tab._cards[0].findChildren(QLabel)]
        texts = [widget.text() for widget in shown]
        assert "in an untitled conversation" in texts
        assert not [text for text in texts if "turn" in text or "24" in text or "31" in text]


async def test_proposals_stand_on_the_page_of_the_goals_and_are_answered_there(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        assert not tab.proposals.isVisible()
        tab.choose("MEMORY_GOALS.md")
        await until(tab.proposals.isVisible)
        tab.proposals.taken.emit(1)
        tab.proposals.dismissed.emit(1)
        await until(lambda: stage.engine.goals.asked == [("take", 1), ("dismiss", 1)])


async def test_a_long_wait_is_said_and_ends(stage):
    begin(stage)
    async with stage.playing() as window:
        tab = await open_tab(window)
        tab.set_busy(True)
        assert not tab._waiting.isVisible()
        await until(tab._waiting.isVisible)
        tab.set_busy(False)
        assert not tab._waiting.isVisible()
