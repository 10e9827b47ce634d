"""The sheet of a conversation's answer settings, in a real window."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.windows.asking import LATER, READS_AGAIN, AskingSheet
from core.changes import Changes
from tests.gui.stage import Stage


async def open_sheet(stage: Stage) -> AskingSheet:
    QTest.keyClick(stage.window, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    await stage.settle()
    assert stage.desk is not None
    assert stage.desk.asking_pane.sheet is not None
    return stage.desk.asking_pane.sheet


async def test_a_value_is_changed_and_saved_with_keys(stage: Stage) -> None:
    conversation = stage.engine.add("Boats")
    async with stage.playing():
        sheet = await open_sheet(stage)
        assert not sheet.save.isEnabled()
        field = sheet.numbers["temperature"]
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, "1.20")
        assert sheet.save.isEnabled()
        QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await stage.settle()
        assert stage.engine.asking.settings[conversation.id].sampling.temperature == 1.2
        assert not sheet.isVisible()


async def test_changed_instructions_show_their_cost_before_they_are_saved(stage: Stage) -> None:
    stage.engine.add("Boats")
    async with stage.playing():
        sheet = await open_sheet(stage)
        assert sheet._note.text() == LATER
        sheet.instructions.setPlainText("Be brief.")
        assert sheet._note.text() == READS_AGAIN
        sheet.instructions.setPlainText("")
        assert sheet._note.text() == LATER


async def test_what_is_typed_stays_while_a_reply_is_written_and_goes_with_cancel(stage: Stage) -> None:
    conversation = stage.engine.add("Boats")
    async with stage.playing():
        sheet = await open_sheet(stage)
        sheet.instructions.setPlainText("Be brief.")
        stage.engine.publish(Changes(prompts=frozenset({conversation.id})))
        await stage.settle()
        assert sheet.instructions.toPlainText() == "Be brief."
        sheet.cancel.click()
        stage.window.chat.answers_chip.click()
        assert sheet.isVisible()
        assert sheet.instructions.toPlainText() == ""
        assert stage.engine.asking.asked == []


async def test_a_preset_fills_the_fields_and_names_the_chip(stage: Stage) -> None:
    stage.engine.add("Boats")
    async with stage.playing() as window:
        assert window.chat.answers_chip.text() == "Answers"
        sheet = await open_sheet(stage)
        sheet.presets.setFocus()
        QTest.keyClick(sheet.presets, Qt.Key.Key_Space)
        assert [action.text() for action in sheet.preset_menu.actions()] == ["Balanced", "Exact"]
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
            QTest.keyClick(sheet.preset_menu, key)
        await stage.settle()
        assert window.chat.answers_chip.text() == "Answers: Exact"
        assert sheet.numbers["temperature"].value() == 0.0
        assert sheet.instructions.toPlainText() == "Answer briefly and exactly."


async def test_before_the_first_message_there_is_nothing_to_set(stage: Stage) -> None:
    async with stage.playing() as window:
        assert not window.chat.answers_chip.isVisible()
        stage.desk.asking_pane.open_up()
        assert stage.desk.asking_pane.sheet is None


async def test_every_field_is_named_for_screen_readers(stage: Stage) -> None:
    stage.engine.add("Boats")
    async with stage.playing():
        sheet = await open_sheet(stage)
        named = [*sheet.numbers.values(), sheet.presets, sheet.instructions]
        assert all(field.accessibleName() for field in named)
