"""The Prompt tab in the window: parts with their text on demand, older prompts, instructions, all by keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.model import PartKind, SessionId
from tests.gui.gallery_prompt import sample_prompts

CHAT = SessionId("pg")


def press(button) -> None:
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)


async def test_parts_show_their_text_on_demand_and_what_was_left_out_at_once(stage):
    stage.engine.add("Cutover", id="pg")
    stage.engine.prompts.held[CHAT] = sample_prompts(stage.engine.now)
    async with stage.playing() as window:
        window.show_tab("Prompt")
        await stage.settle()
        tab = window.prompt
        row = tab.rows()[PartKind.HISTORY]
        assert "12 messages left out" in row.note.text()
        assert not row.body.isVisible()
        press(row.fold)
        assert row.body.isVisible()
        assert "14 December, then." in row.text.text()
        assert "Earlier messages 1,180" in tab.bar.accessibleName()
        assert "94 % was known" in tab.reuse.text()
        assert len(tab.recalled_rows()) == 4


@pytest.mark.may_block(4.0)
async def test_an_older_prompt_is_one_key_away_and_what_is_open_stays_open(stage):
    stage.engine.add("Cutover", id="pg")
    stage.engine.prompts.held[CHAT] = sample_prompts(stage.engine.now)
    async with stage.playing() as window:
        window.show_tab("Prompt")
        await stage.settle()
        tab = window.prompt
        press(tab.rows()[PartKind.QUESTION].fold)
        press(tab.older)
        await stage.settle()
        assert tab.place.text() == "Reply 1 of 2"
        assert set(tab.rows()) == {PartKind.SYSTEM, PartKind.QUESTION}
        assert tab.rows()[PartKind.QUESTION].body.isVisible()
        assert not tab.older.isEnabled()
        stage.look.apply(zoom_percent=150)  # the whole window is dressed anew
        assert tab.rows()[PartKind.QUESTION].body.isVisible()
        press(tab.newer)
        await stage.settle()
        assert tab.place.text() == "Reply 2 of 2"


async def test_instructions_are_written_in_place(stage):
    stage.engine.add("Cutover", id="pg")
    async with stage.playing() as window:
        window.show_tab("Prompt")
        await stage.settle()
        tab = window.prompt
        assert tab.empty.isVisible()
        card = tab.instructions
        press(card.change)
        assert card.entry.hasFocus()
        QTest.keyClicks(card.entry, "Be brief.")
        press(card.save)
        await stage.settle()
        assert stage.engine.prompts.instructions == {CHAT: "Be brief."}
        assert card.shown.text() == "Be brief."
        press(card.change)
        QTest.keyClicks(card.entry, "never mind")
        press(card.cancel)
        assert stage.engine.prompts.instructions == {CHAT: "Be brief."}


async def test_a_recalled_message_leads_to_where_it_was_said(stage):
    stage.engine.add("Cutover", id="pg")
    stage.engine.add_turn(CHAT, "Never restart pgbouncer", "I see.")
    stage.engine.prompts.held[CHAT] = sample_prompts(stage.engine.now)
    asked = []
    async with stage.playing() as window:
        window.prompt.turn_requested.connect(lambda session, number: asked.append((session, number)))
        window.show_tab("Prompt")
        await stage.settle()
        press(next(row for row in window.prompt.recalled_rows() if row.jump).jump)
        await stage.settle()
        assert asked == [("pg", 3)]
