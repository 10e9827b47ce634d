"""The Activity tab and the Settings sheet in the window: what is shown, what a key asks for, what fails is said."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.theme import ThemeMode
from app.views.switch import Switch
from core.activity import Activity
from core.changes import Changes
from tests.gui.gallery_activity import sample


def read(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def press(widget: QWidget, name: str) -> None:
    found = [b for b in widget.findChildren(QPushButton) if b.isVisible() and name in (b.accessibleName() or b.text())]
    found[0].setFocus()
    QTest.keyClick(found[0], Qt.Key.Key_Space)


async def test_work_is_shown_with_the_process_that_does_it(stage):
    stage.engine.activity.shown = sample(time.time())
    async with stage.playing() as window:
        window.show_tab("Activity")
        await stage.settle()
        told = read(window.activity)
        assert "keepsake-jobs, pid 48213" in told
        assert "tried 3 times: The disk is full" in told
        assert "next try in 9 min" in told
        assert "A password is hidden from memory in 2 messages" in told
        assert "Turns read (214)" in told


async def test_what_failed_is_tried_again_one_or_all(stage):
    stage.engine.activity.shown = sample(time.time())
    async with stage.playing() as window:
        window.show_tab("Activity")
        await stage.settle()
        press(window.activity, "Try again: Writing MEMORY.md")
        press(window.activity, "Try now: Writing a recap")
        press(window.activity, "Try all again")
        await stage.settle()
        assert stage.engine.activity.retried == [5, 4]
        assert stage.engine.activity.retried_all == 1


async def test_what_another_process_did_is_shown_at_once_and_nothing_is_loaded_behind_another_tab(stage):
    async with stage.playing() as window:
        await stage.settle()
        assert stage.engine.activity.loads == 0
        window.show_tab("Activity")
        await stage.settle()
        assert "Nothing was done yet" in read(window.activity)
        stage.engine.activity.shown = sample(time.time())
        stage.engine.publish(Changes(everything=True))
        await stage.settle(0.2)
        assert "keepsake-jobs, pid 48213" in read(window.activity)
        stage.engine.activity.shown = Activity(recent=stage.engine.activity.shown.recent)
        stage.engine.publish(Changes(status=True))
        await stage.settle(0.2)
        assert "Nothing to do. Memory is up to date." in read(window.activity)


async def open_sheet(stage):
    QTest.keyClick(stage.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await stage.settle(0.2)
    sheet = stage.desk.pages.settings_sheet
    assert sheet is not None
    return sheet


def find(sheet, name: str) -> Switch:
    return next(switch for switch in sheet.findChildren(Switch) if switch.text() == name and switch.isVisible())


@pytest.mark.may_block(1.0)
async def test_a_switch_is_changed_and_taken_back_by_keyboard(stage):
    async with stage.playing():
        sheet = await open_sheet(stage)
        switch = find(sheet, "Write recaps")
        assert switch.isChecked()
        switch.setFocus()
        QTest.keyClick(switch, Qt.Key.Key_Space)
        QTest.keyClick(switch, Qt.Key.Key_Space)
        await stage.settle()
        changed = stage.engine.settings.changed
        assert changed == [("learning.recap_enabled", "off"), ("learning.recap_enabled", "on")]


@pytest.mark.may_block(1.0)
async def test_what_cannot_be_changed_is_said_and_the_switch_goes_back(stage):
    async with stage.playing():
        sheet = await open_sheet(stage)
        stage.engine.settings.refuse = "settings.toml cannot be written. Nothing was changed."
        switch = find(sheet, "Write recaps")
        switch.setFocus()
        QTest.keyClick(switch, Qt.Key.Key_Space)
        await stage.settle(0.2)
        assert "Nothing was changed" in read(sheet)
        assert switch.isChecked()


@pytest.mark.may_block(1.0)
async def test_what_the_environment_sets_is_fixed_and_says_so(stage):
    stage.engine.settings.environment = {"KEEPSAKE_LEARNING_RECAP_ENABLED": "no"}
    async with stage.playing():
        sheet = await open_sheet(stage)
        switch = find(sheet, "Write recaps")
        assert not switch.isEnabled()
        assert not switch.isChecked()
        assert "KEEPSAKE_LEARNING_RECAP_ENABLED" in read(sheet)


@pytest.mark.may_block(2.0)
async def test_colours_are_chosen_in_the_sheet(stage):
    async with stage.playing() as window:
        sheet = await open_sheet(stage)
        press(sheet, "Colours: dark")
        await stage.settle(0.2)
        assert window.theme_mode() is ThemeMode.DARK
        assert find(sheet, "Write recaps").isChecked(), "the sheet is made anew with what is set"
