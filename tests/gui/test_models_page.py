"""The Models page in a real window: keys, drag and drop, and what a screen reader hears."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.rendering.model_rows import ModelAct
from app.windows.models import ModelsWindow
from core.changes import Changes
from core.model_files import ImportWay, ModelOrigin, ModelRole
from tests.app.scripted_models import BUILT_IN
from tests.gui.stage import Stage

OTHER = replace(BUILT_IN, id="other.gguf", name="Other", origin=ModelOrigin.OURS, roles=())


def window_of(stage: Stage) -> ModelsWindow:
    assert stage.desk is not None
    assert stage.desk.pages.models_window is not None
    return stage.desk.pages.models_window


async def open_page(stage: Stage) -> ModelsWindow:
    QTest.keyClick(stage.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    await stage.settle()
    window = window_of(stage)
    window.activateWindow()
    window.page.list.setFocus()
    await stage.settle()
    return window


def drop(target: QWidget, *paths: str, text: str = "") -> bool:
    """Drag files or a text over a widget and let go; returns whether they were taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    if text:
        data.setText(text)
    at, left, none = QPointF(5, 5), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, Qt.DropAction.CopyAction, data, left, none)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    event = QDropEvent(at, Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(target, event)
    return event.isAccepted()


async def test_the_page_is_used_with_keys_alone(stage: Stage) -> None:
    stage.engine.models.cards.append(OTHER)
    async with stage.playing():
        page = (await open_page(stage)).page
        assert page.list.current().title == BUILT_IN.name
        QTest.keyClick(page.list, Qt.Key.Key_Down)
        assert page.list.current().title == "Other"
        QTest.keyClick(page.list, Qt.Key.Key_Return)
        await stage.settle()
        assert stage.engine.models.asked == [("choose", ModelRole.CHAT, "other.gguf", None)]
        QTest.keyClick(page.list, Qt.Key.Key_Tab)
        assert page.details.isAncestorOf(page.window().focusWidget())
        page.list.setFocus()
        QTest.keyClick(page.list, Qt.Key.Key_Delete)
        await stage.settle()
        assert page.toast.isVisible()
        page.toast.undo_requested.emit()
        await stage.settle()
        assert page.list.current().title == "Other"
        QTest.keyClick(page.list, Qt.Key.Key_Escape)
        assert not window_of(stage).isVisible()


async def test_each_row_and_button_is_spoken(stage: Stage) -> None:
    stage.engine.models.cards.append(replace(OTHER, problem="It ends too early."))
    async with stage.playing():
        page = (await open_page(stage)).page
        spoken = [
            page.list.rows.index(i).data(Qt.ItemDataRole.AccessibleTextRole) for i in range(page.list.rows.rowCount())
        ]
        assert "SmolLM2 135M · Q4_1. chat · memory. Q4_1 · 98 MB · fits" in spoken
        assert "Other. cannot be used. It ends too early." in spoken
        assert all(button.text() for button in page.details.buttons().values())
        assert page.list.accessibleName() == "Models"


@pytest.mark.parametrize("onto", ["window", "composer"])
async def test_a_model_file_dropped_on_the_window_opens_the_page_and_asks(stage: Stage, onto: str) -> None:
    async with stage.playing() as window:
        target = window if onto == "window" else window.chat.composer.entry.viewport()
        assert drop(target, "/dl/new.GGUF", "/dl/notes.txt")
        await stage.settle()
        page = window_of(stage).page
        assert page.question.isVisible()
        page.question.buttons[ImportWay.LINK].click()
        await stage.settle()
        assert stage.engine.models.asked == [("import", "new.GGUF", ImportWay.LINK)]
        assert page.list.current().title == "new"
        assert window.chat.composer.text() == ""


async def test_other_files_and_texts_are_left_to_the_composer(stage: Stage) -> None:
    async with stage.playing() as window:
        assert not drop(window, "/dl/notes.txt")
        assert drop(window.chat.composer.entry.viewport(), text="words")
        assert "words" in window.chat.composer.text()
        assert stage.desk.pages.models_window is None


async def test_a_wrong_file_dropped_on_the_page_is_refused_in_words(stage: Stage) -> None:
    stage.engine.models.broken.add("page.html")
    async with stage.playing():
        window = await open_page(stage)
        assert drop(window.page.list.viewport(), "/dl/page.html")
        await stage.settle()
        assert "page.html is no model file" in window.page._message.text()
        assert window.page._message.isVisible()
        assert not window.page.question.isVisible()


async def test_picking_a_file_blocks_nothing(stage: Stage, tmp_path: Path) -> None:
    stage.engine.models.way = ImportWay.REFERENCE
    (tmp_path / "picked.gguf").write_bytes(b"")
    async with stage.playing():
        window = await open_page(stage)
        window.page.add_button.click()
        await stage.settle()
        dialog = window.findChild(QFileDialog)
        assert dialog is not None
        dialog.filesSelected.emit([str(tmp_path / "picked.gguf")])
        dialog.close()
        await stage.settle()
        assert stage.engine.models.asked == [("import", "picked.gguf", None)]
        window.pick_files()  # a second time works too
        assert window.findChildren(QFileDialog)
        window.findChildren(QFileDialog)[-1].close()


async def test_the_focus_stays_on_a_button_while_progress_comes(stage: Stage) -> None:
    async with stage.playing():
        page = (await open_page(stage)).page
        page.details.buttons()[ModelAct.EXAMINE].setFocus()
        page.details.buttons()[ModelAct.EXAMINE].click()
        await stage.settle()
        assert ModelAct.STOP_EXAM in page.details.buttons()
        assert page.window().focusWidget() is page.details.buttons()[ModelAct.STOP_EXAM]


async def test_the_chip_of_the_model_opens_the_page(stage: Stage) -> None:
    async with stage.playing() as window:
        assert window.chat.model_chip.isVisible()
        window.chat.model_chip.click()
        await stage.settle()
        assert window_of(stage).isVisible()


async def test_without_models_it_says_how_to_get_one(stage: Stage) -> None:
    stage.engine.models.cards = []
    async with stage.playing():
        page = (await open_page(stage)).page
        assert page.details._empty.isVisible()
        assert "Drop a .gguf file here" in page.details._empty.text()


async def test_another_program_answers_and_the_window_says_where_words_go(stage: Stage) -> None:
    async with stage.playing() as window:
        page = (await open_page(stage)).page
        page.server_button.click()
        QTest.keyClicks(page.server.address, "http://models.example.org")
        QTest.keyClick(page.server.address, Qt.Key.Key_Return)
        assert stage.engine.servers.asked == []
        assert page.server.allow_button.text() == "Allow models.example.org"
        page.server.allow_button.click()
        await stage.settle()
        page.server.use_button.click()
        await stage.settle()
        stage.engine.publish(Changes(model=True))
        assert window.status_line._local.whole() == "▲ what you write goes to models.example.org"
        await stage.settle(0.5)
        assert page._roles.text().startswith("Chat: llama3.2:3b, served by http://models.example.org")
        page.server.stop_button.click()
        await stage.settle()
        stage.engine.publish(Changes(model=True))
        assert window.status_line._local.whole() == "nothing leaves this computer"
