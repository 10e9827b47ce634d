"""Small things a user meets in the window: focus, hints, long pastes, files edited elsewhere, old versions."""

import asyncio
import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.garbage import GarbageCollector
from app.views import composer as composing
from app.views.decisions import describe_all
from app.views.file_changes import ChangeCard
from app.views.message import outcome
from core.model import (
    BoundaryReason,
    Decision,
    FileChange,
    MemoryFile,
    Message,
    MessageId,
    MessageStatus,
    ModelPhase,
    ModelStatus,
    Role,
    Section,
    Segment,
    SegmentId,
    SessionId,
    TurnId,
)

A = SessionId("a")


async def until(holds) -> None:
    """Wait for what must become true; the loop's own limit ends a wait in vain."""
    while not holds():
        await asyncio.sleep(0.01)


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def paste(entry, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    entry.insertFromMimeData(data)


# -- composer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["word " * 40_000, "line\n" * 60_000])
async def test_a_long_paste_is_held_aside_and_sent_whole(stage, text):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        composer = window.chat.composer
        QTest.keyClicks(composer.entry, "Read this:")
        paste(composer.entry, text)
        assert composer.entry.toPlainText() == "Read this:"
        assert f"{len(text):,} characters pasted" in composer._held_label.text()
        assert composer._held_row.isVisible()
        QTest.keyClick(composer.entry, Qt.Key.Key_Return)
        await stage.settle()
        assert stage.engine.messages[A][0].text == "Read this:\n" + text
        assert not composer._held_row.isVisible()
        assert composer.text() == ""


async def test_a_long_paste_can_be_removed_and_comes_back_as_a_draft(stage):
    text = "x" * 30_000
    stage.engine.add("talk", id="a")
    stage.engine.drafts[A] = text
    async with stage.playing() as window:
        composer = window.chat.composer
        assert composer.text() == text
        assert composer.send.isEnabled()
        click(composer._held_remove)
        assert composer.text() == ""
        assert not composer.send.isEnabled()
        assert composer.entry.hasFocus()


async def test_enter_while_a_reply_runs_says_how_to_go_on(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        stage.desk.chat.send("first")
        await stage.settle()
        composer = window.chat.composer
        QTest.keyClicks(composer.entry, "second")
        QTest.keyClick(composer.entry, Qt.Key.Key_Return)
        assert composer.hint.text() == composing.BUSY
        assert composer.text() == "second"
        stage.engine.end_reply(A, "done")
        await stage.settle()
        assert not composer.hint.isVisible()


async def test_enter_before_the_store_is_open_says_that_it_will_be_sent(stage):
    stage.window.show()
    composer = stage.window.chat.composer
    QTest.keyClicks(composer.entry, "early")
    QTest.keyClick(composer.entry, Qt.Key.Key_Return)
    assert composer.hint.text() == composing.OPENING
    async with stage.playing():
        await until(lambda: any(stage.engine.messages.values()))
        await stage.settle()
        assert not composer.hint.isVisible()


async def test_the_focus_goes_back_to_the_message_when_stop_goes(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        stage.desk.chat.send("go")
        await stage.settle()
        window.chat.composer.stop.setFocus()
        stage.engine.end_reply(A, "done", MessageStatus.STOPPED)
        await stage.settle()
        assert window.chat.composer.entry.hasFocus()


async def test_the_very_first_conversation_can_be_temporary(stage):
    async with stage.playing() as window:
        QTest.keyClicks(window.chat.composer.entry, "a secret")
        click(window.chat.composer.temporary)
        await until(lambda: [c.remember for c in stage.engine.conversations.values()] == [False])
        await stage.settle()
        assert window.chat.composer.text() == "a secret"
        assert window.chat.composer.temporary.isChecked()
        QTest.keyClick(window.chat.composer.entry, Qt.Key.Key_Return)
        await stage.settle()
        assert len(stage.engine.conversations) == 1
        assert [m.text for m in next(iter(stage.engine.messages.values()))] == ["a secret", ""]


# -- list -----------------------------------------------------------------------------------------


async def test_deletions_are_undone_from_the_menu_after_the_toast_is_gone(stage):
    for name in "abc":
        stage.engine.add(f"talk {name}", id=name)
    async with stage.playing() as window:
        for name in "ab":
            stage.desk.list.delete(SessionId(name))
            await stage.settle()
            window.toast.dismiss()
        assert set(stage.engine.conversations) == {"c"}
        window.menus.undo_delete_requested.emit()
        await stage.settle()
        assert set(stage.engine.conversations) == {"b", "c"}
        window.menus.undo_delete_requested.emit()
        window.menus.undo_delete_requested.emit()
        await stage.settle()
        assert set(stage.engine.conversations) == {"a", "b", "c"}


async def test_undo_in_the_toast_gives_the_focus_back_to_the_message(stage):
    stage.engine.add("talk", id="a")
    stage.engine.add("other", id="b")
    async with stage.playing() as window:
        stage.desk.list.delete(A)
        await until(window.toast.isVisible)
        window.toast._undo.setFocus()
        click(window.toast._undo)
        await stage.settle()
        assert window.chat.composer.entry.hasFocus()
        assert set(stage.engine.conversations) == {"a", "b"}


async def test_the_sheet_names_keys_that_one_can_press(stage):
    async with stage.playing() as window:
        window.menus.show_sheet()
        await stage.settle()
        shown = [label.text() for label in window.menus._sheet.findChildren(QLabel)]
        window.menus._sheet.close()
        assert "Ctrl+N" in shown
        assert not [text for text in shown if "  New" in text]
        assert {"Enter", "Shift+Enter", "F2", "Esc"} <= set(shown)


# -- messages -------------------------------------------------------------------------------------


def reply(text: str, status: MessageStatus, **fields: str) -> Message:
    return Message(
        id=MessageId(1), session_id=A, turn=TurnId(1), role=Role.ASSISTANT, text=text, status=status, created_at=1.0,
        **fields,
    )  # fmt: skip


@pytest.mark.parametrize("status", [MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED])
def test_a_reply_that_did_not_end_says_what_is_kept(status):
    assert "kept" in outcome(reply("half", status))
    assert "kept as far" not in outcome(reply("", status))


def test_what_the_model_could_not_read_is_said_under_the_reply():
    assert (
        outcome(reply("ok", MessageStatus.COMPLETE, note="It saw the beginning only.")) == "It saw the beginning only."
    )
    assert outcome(reply("ok", MessageStatus.COMPLETE)) == ""


def test_a_reason_that_says_what_is_kept_is_not_told_twice():
    text = outcome(reply("", MessageStatus.FAILED, error="No model. Your messages are kept."))
    assert text == "No model. Your messages are kept."


@pytest.mark.may_block(3)
async def test_zoom_drops_what_is_far_away_and_builds_it_again_around_the_reader(stage):
    stage.engine.add("talk", id="a")
    for i in range(40):
        stage.engine.add_turn(A, f"question {i}", "text " * 100)
    async with stage.playing() as window:
        transcript = window.chat.transcript
        await until(lambda: len(transcript.message_views()) == 80)
        bar = transcript.verticalScrollBar()
        bar.setValue(bar.maximum() // 2)
        await stage.settle()
        turn = transcript.visible_turn()
        window.zoom(10)
        await until(lambda: stage.look.zoom_percent == 110)
        assert len(transcript.message_views()) < 40
        await until(lambda: len(transcript.message_views()) == 80)
        await stage.settle()
        assert abs(transcript.visible_turn() - turn) <= 3  # ids: a turn and its two messages
        assert transcript._newest.isVisible()
        click(transcript._newest)
        assert bar.value() == bar.maximum()
        assert not transcript._newest.isVisible()
    stage.look.apply(zoom_percent=100)


async def test_zoom_steps_in_quick_succession_are_taken_at_once(stage):
    worn = []
    async with stage.playing() as window:
        stage.look.changed.connect(lambda: worn.append(stage.look.zoom_percent))
        for _ in range(30):
            window.zoom(10)
        await until(lambda: worn)
        assert worn == [200]
        window.zoom(None)
        await until(lambda: stage.look.zoom_percent == 100)


@pytest.mark.may_block(3)
async def test_a_reader_in_the_middle_sees_the_neighbours_built_first(stage):
    stage.engine.add("talk", id="a")
    for i in range(40):
        stage.engine.add_turn(A, f"question {i}", "text " * 100)
    async with stage.playing() as window:
        transcript = window.chat.transcript
        await until(lambda: len(transcript.message_views()) == 80)
        transcript.verticalScrollBar().setValue(0)
        await stage.settle()
        window.zoom(-20)
        await until(lambda: 80 > len(transcript.message_views()) > 20)
        built = [view.message.id for view in transcript.message_views()]
        wanted = [m.id for m in transcript._wanted]
        assert built == wanted[: len(built)]
        await until(lambda: len(transcript.message_views()) == 80)
    stage.look.apply(zoom_percent=100)


# -- window ---------------------------------------------------------------------------------------


async def test_a_pane_that_is_asked_for_is_shown_whole_in_a_narrow_window(stage):
    async with stage.playing() as window:
        window.resize(560, 700)
        await stage.settle()
        for side, pane, other in (
            ("right", window.inspector, window.sidebar),
            ("left", window.sidebar, window.inspector),
        ):
            if window.is_pane_shown(side):
                window.toggle_pane(side)
            window.toggle_pane(side)
            await stage.settle()
            assert pane.isVisible()
            assert not other.isVisible()
            assert pane.width() >= pane.minimumWidth()
            assert not pane.geometry().intersects(window.chat.geometry())


@pytest.mark.may_block(3)
async def test_the_placeholder_grows_with_the_zoom(stage):
    def inked_height(entry: QWidget) -> int:
        image = entry.grab().toImage()
        paper = image.pixelColor(image.width() - 3, image.height() // 2)
        rows = [y for y in range(image.height()) if any(image.pixelColor(x, y) != paper for x in range(4, 360, 2))]
        return rows[-1] - rows[0]

    async with stage.playing() as window:
        entry = window.chat.composer.entry
        window.sidebar.list.setFocus()  # no cursor in the picture
        small = inked_height(entry)
        window.zoom(100)
        await until(lambda: stage.look.zoom_percent == 200)
        await stage.settle()
        assert inked_height(entry) > 1.6 * small
    stage.look.apply(zoom_percent=100)


@pytest.mark.may_block(3)
async def test_the_welcome_can_be_scrolled_where_it_does_not_fit(stage):
    async with stage.playing() as window:
        window.resize(700, 500)
        window.zoom(100)
        await until(lambda: stage.look.zoom_percent == 200)
        await stage.settle()
        bodies = [body for _, body, _ in window.chat.welcome._texts]
        assert all(body.height() >= body.heightForWidth(body.width()) for body in bodies)
    stage.look.apply(zoom_percent=100)


# -- status line ----------------------------------------------------------------------------------


async def test_nothing_reused_is_not_worth_a_word(stage):
    async with stage.playing() as window:
        bar, status = window.status_line, ModelStatus(name="M", phase=ModelPhase.READY, reused_share=0.001)
        bar.show_model(status)
        assert not bar._reuse.isVisible()
        bar.show_model(replace(status, reused_share=0.92))
        assert bar._reuse.text() == "92 % of the prompt reused"
        assert bar._reuse.isVisible()


@pytest.mark.parametrize("phase", [ModelPhase.ABSENT, ModelPhase.FAILED])
async def test_why_there_is_no_model_stands_in_the_window(stage, phase):
    async with stage.playing() as window:
        bar = window.status_line
        bar.show_model(ModelStatus(name="no model", phase=phase, detail="Put a file there."))
        assert bar._problem_text.text() == "▲ Put a file there."
        assert bar._problems.isVisible()
        assert bar._name.isVisible() is (phase is ModelPhase.FAILED)
        bar.show_model(ModelStatus(name="M", phase=ModelPhase.READY))
        assert not bar._problems.isVisible()


# -- memory ---------------------------------------------------------------------------------------


def test_sections_nothing_happened_to_share_one_line():
    same = [Decision(section=s, asked="KEEP", applied="KEEP", reason="") for s in (Section.TITLE, Section.GOALS)]
    added = Decision(section=Section.ISSUES, asked="UPDATE", applied="APPEND", reason="", restored=("Who signs?",))
    assert describe_all([same[0], added, same[1]]).split("\n") == [
        "Open Issues: added to. Asked for: rewritten. Restored: “Who signs?”.",
        "Left as they were: Session Title, Task & Goals.",
    ]


# -- segments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "title"), [("Thanks, that's all!", "“Thanks, that's all!”"), ("", "Small talk"), ("a" * 90, None)]
)
async def test_a_segment_without_a_topic_is_named_by_its_words(stage, summary, title):
    segment = Segment(
        id=SegmentId("s"), session_id=A, first_turn=TurnId(1), last_turn=TurnId(1), turn_count=1, started_at=1.0,
        ended_at=1.0, is_open=False, opened_by=BoundaryReason.DRIFT, gap_s=None, title="", summary=summary,
        similarities=(0.9, 0.8),
    )  # fmt: skip
    stage.engine.add("talk", id="a")
    stage.engine.segments.held[A] = (segment,)
    async with stage.playing() as window:
        window.show_tab("Segments")
        await until(lambda: window.segments.timeline._cards)
        card = window.segments.timeline._cards[0]
        assert title is None or card._title.text() == title
        assert card._summary.isHidden() is (title is not None)
        assert not card._legend.isHidden()


# -- files ----------------------------------------------------------------------------------------


def changes(count: int, path: Path) -> MemoryFile:
    made = tuple(
        FileChange(
            id=i, file="MEMORY.md", at=1.0, actor="Keepsake", cause="You said so.", turns=(TurnId(i),),
            before="a\n", after=f"a\n- {i}\n",
        )
        for i in range(count, 0, -1)
    )  # fmt: skip
    return MemoryFile(name="MEMORY.md", path=str(path), text="# About you\n\n" + "- fact\n" * 40, changes=made)


async def test_undo_keeps_the_place_and_the_other_cards(stage, tmp_path):
    file = changes(6, tmp_path / "MEMORY.md")
    stage.engine.files.held = (file,)
    async with stage.playing() as window:
        window.show_tab("Files")
        tab = window.files
        await until(lambda: len(tab._cards) == 6)
        await stage.settle()
        kept, bar = list(tab._cards), tab.area.verticalScrollBar()
        texts = [label.text() for label in kept[0].findChildren(QLabel)]
        assert "You said so." in texts  # where it was said is not known
        bar.setValue(bar.maximum())
        at = bar.value()
        stage.engine.files.held = (replace(file, changes=(replace(file.changes[0], undone=True), *file.changes[1:])),)
        stage.desk.files.undo(6)
        await until(lambda: tab._cards[0] is not kept[0])
        await stage.settle()
        assert tab._cards[1:] == kept[1:]
        assert abs(bar.value() - at) < 60
        assert all(isinstance(card, ChangeCard) for card in tab._cards)


async def test_an_edit_in_another_editor_is_noticed_while_the_tab_is_open(stage, tmp_path):
    path = tmp_path / "MEMORY.md"
    path.write_text("- one\n")
    stage.engine.files.held = (MemoryFile(name="MEMORY.md", path=str(path), text="- one\n"),)
    async with stage.playing() as window:
        window.show_tab("Files")
        await until(window.files._watcher.files)
        for text, write in (("- two\n", path.write_text), ("- three\n", lambda t: replace_file(path, t))):
            stage.engine.files.held = (MemoryFile(name="MEMORY.md", path=str(path), text=text),)
            write(text)
            await until(lambda text=text: window.files.body.blocks.text == text)


def replace_file(path: Path, text: str) -> None:
    """Write as careful editors do: another file takes the name."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


async def test_a_reason_that_stands_above_the_file_is_not_repeated(stage):
    stage.engine.files.held = (MemoryFile(name="MEMORY.md", path="/none", text="", problem="It is a link."),)
    async with stage.playing() as window:
        window.show_tab("Files")
        await until(window.files._problem.isVisible)
        window.files.show_message("It is a link.")
        assert not window.files._message.isVisible()
        window.files.show_message("Something else.")
        assert window.files._message.isVisible()


# -- garbage --------------------------------------------------------------------------------------


def test_cycles_with_qt_objects_wait_for_the_qt_thread(qapp: QApplication):
    keeper = QObject()
    collector = GarbageCollector(keeper)
    try:
        assert not gc.isenabled()
        lost = QTimer()
        lost.setProperty("self", [lost])
        cycle: list[object] = [lost]
        cycle.append(cycle)
        gone = weakref.ref(lost)
        lost.setProperty("self", None)
        del lost, cycle
        assert gone() is not None
        made = [[i] for i in range(2_000)]  # enough for the youngest generation to be due
        collector.look()
        assert gone() is None
        assert len(made) == 2_000
    finally:
        collector.close()
        assert gc.isenabled()
        gc.disable()
