"""The Profile tab in the window: everything by keyboard, nothing forgotten without being asked."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.changes import Changes
from core.model import ForgetLine, ForgetPreview, Profile, SessionId, TurnId
from tests.gui.gallery_profile import sample_profile


def press(button) -> None:
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)


async def test_facets_stand_under_their_class_with_strength_and_evidence(stage):
    stage.engine.profile.held = sample_profile(stage.engine.now)
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        rows = window.profile.rows()
        assert len(rows) == 10
        assert "confirmed by you" in rows["fc-3"]._meta.text()
        assert 'href="pg/9"' in rows["fc-9"]._meta.text()
        assert rows["fc-9"]._meta.accessibleName().endswith("said in turn 9 of “PostgreSQL 16 cutover”")
        assert "Before, until" in rows["fc-9"]._history.text()
        assert rows["fc-11"]._conflicts.isVisible()
        assert window.profile._request.isVisible()


async def test_an_empty_profile_says_how_it_fills(stage):
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        assert "Remember that" in window.profile._empty.text()
        assert window.profile._empty.isVisible()
        assert not window.profile._footer.isVisible()


async def test_confirm_correct_and_pin_by_keyboard(stage):
    stage.engine.profile.held = sample_profile(stage.engine.now)
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        row = window.profile.rows()["fc-9"]
        press(row.more)
        press(row.confirm)
        press(row.pin)
        press(row.correct)
        assert row.entry.hasFocus()
        row.entry.selectAll()
        QTest.keyClicks(row.entry, "I live in Tromso")
        QTest.keyClick(row.entry, Qt.Key.Key_Return)
        await stage.settle()
        assert stage.engine.profile.asked == [
            ("confirm", "fc-9"),
            ("pin", "fc-9", True),
            ("correct", "fc-9", "I live in Tromso"),
        ]
        assert row.more.hasFocus()


async def test_forgetting_says_what_goes_and_can_be_undone(stage):
    stage.engine.profile.held = Profile(facets=sample_profile(stage.engine.now).facets)
    stage.engine.profile.preview = ForgetPreview(
        facet_ids=(), texts=(), events=2, recaps=1, lines=(ForgetLine(place="MEMORY.md", text="- a"),)
    )
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        row = window.profile.rows()["fc-9"]
        press(row.more)
        press(row.forget)
        await stage.settle()
        assert "2 noted statements and 1 line of MEMORY.md" in row._cost.text()
        assert row.really.hasFocus()
        assert stage.engine.profile.asked == []
        press(row.really)
        await stage.settle()
        assert "fc-9" not in window.profile.rows()
        assert window.profile._footer.isVisible()
        press(window.profile.undo_button)
        await stage.settle()
        assert stage.engine.profile.asked == [("forget", "fc-9"), ("undo",)]


async def test_what_is_open_stays_open_when_the_profile_changes(stage):
    stage.engine.profile.held = sample_profile(stage.engine.now)
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        row = window.profile.rows()["fc-14"]
        press(row.more)
        press(row.correct)
        row.entry.setText("half typed")
        stage.engine.publish(Changes(profile=True))
        await stage.settle()
        assert row.entry.isVisible()
        assert row.entry.text() == "half typed"


async def test_evidence_leads_to_the_turn_in_its_conversation(stage):
    stage.engine.add("here", id="here")
    stage.engine.add("elsewhere", id="pg", updated_at=stage.engine.now - 9_000)
    turn = stage.engine.add_turn(SessionId("pg"), "I live in Bergen", "I see.")
    async with stage.playing() as window:
        window.show_tab("Profile")
        await stage.settle()
        window.profile.turn_requested.emit("pg", turn)
        await stage.settle(0.2)
        assert stage.desk.list.selected == SessionId("pg")
        shown = [view.message.turn for view in window.chat.transcript.message_views()]
        assert TurnId(turn) in shown
