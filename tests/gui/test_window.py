"""The window on the production loop: typing, streaming, switching, the memory beside it."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QApplication, QPlainTextEdit, QWidget

from app.theme import ThemeMode
from app.views.message import MessageView
from core.changes import Changes
from core.errors import StorageError
from core.model import MessageStatus, SessionId


def shown_text(view: MessageView) -> str:
    """All prose and code of a message as it stands on screen."""
    blocks = (*view.body._done, *view.body._tail)
    return "\n".join(b.text if hasattr(b, "text") else b.toPlainText() for b in blocks)


async def until(holds) -> None:
    """Wait for what must become true; the loop's own limit ends a wait in vain."""
    while not holds():
        await asyncio.sleep(0.01)


def press(widget: QWidget, key: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier, text: str = "") -> None:
    QTest.keyClick(widget, key, modifiers)


async def test_typing_and_enter_sends_and_the_reply_streams(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        entry = window.chat.composer.entry
        QTest.keyClicks(entry, "hello there")
        press(entry, Qt.Key.Key_Return)
        await stage.settle()
        assert entry.toPlainText() == ""
        assert window.chat.composer.stop.isVisible()
        assert not window.chat.composer.send.isVisible()
        for piece in ("# Hi\n\nA *list*:\n\n", "- one\n- two\n\n```py\nx = 1\n", "```\n\nend"):
            stage.engine.stream(SessionId("a"), piece)
            await stage.settle(0.02)
        stage.engine.end_reply(SessionId("a"), "# Hi\n\nA *list*:\n\n- one\n- two\n\n```py\nx = 1\n```\n\nend")
        await stage.settle()
        user, reply = window.chat.transcript.message_views()
        assert shown_text(user) == "hello there"
        assert shown_text(reply).split("\n") == ["Hi", "A list:", "one", "two", "x = 1", "end"]
        assert window.chat.composer.send.isVisible()


async def test_a_reload_while_a_reply_streams_shows_nothing_twice(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        stage.desk.chat.send("hello")
        await stage.settle()
        stage.engine.stream(SessionId("a"), "one two three")
        stored = replace(stage.engine.messages["a"][-1], text="one ", status=MessageStatus.STREAMING)
        stage.engine.messages["a"][-1] = stored
        stage.engine.publish(Changes(messages=frozenset({SessionId("a")})))
        await stage.settle()
        assert shown_text(window.chat.transcript.message_views()[1]) == "one two three"


async def test_shift_enter_breaks_the_line(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        entry = window.chat.composer.entry
        QTest.keyClicks(entry, "one")
        press(entry, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(entry, "two")
        await stage.settle()
        assert entry.toPlainText() == "one\ntwo"
        assert stage.engine.messages["a"] == []


async def test_enter_belongs_to_the_input_method_while_it_composes(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        entry = window.chat.composer.entry
        QApplication.sendEvent(entry, QInputMethodEvent("nihao", []))
        assert entry.is_composing()
        press(entry, Qt.Key.Key_Return)
        await stage.settle()
        assert stage.engine.messages["a"] == []
        assert entry.toPlainText() == ""  # neither sent nor a line broken
        commit = QInputMethodEvent("", [])
        commit.setCommitString("你好")
        QApplication.sendEvent(entry, commit)
        press(entry, Qt.Key.Key_Return)
        await stage.settle()
        assert [m.text for m in stage.engine.messages["a"]] == ["你好", ""]


async def test_a_message_that_fails_stays_with_the_reason_under_it(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        stage.engine.fail_next = StorageError("The disk is full. Your text is still here.")
        QTest.keyClicks(window.chat.composer.entry, "keep me")
        press(window.chat.composer.entry, Qt.Key.Key_Return)
        await stage.settle()
        assert window.chat.composer.text() == "keep me"
        assert window.chat.composer.error.text() == "The disk is full. Your text is still here."
        assert window.chat.composer.error.isVisible()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "word " * 200_000,
        "a\x00b\x07c\x1b[31m",
        "lone \ud800 surrogate \udfff",
        "مرحبا \u202e שלום 👨‍👩‍👧‍👦 e\u0301 \ufdd0\ufffc",
        "<b>not bold</b> &amp; <script>alert(1)</script>",
        "\n" * 500,
    ],
    ids=["1 MB one word", "1 MB of words", "controls", "surrogates", "scripts and markers", "html", "newlines"],
)
async def test_any_text_can_be_shown_as_question_and_as_reply(stage, text):
    stage.engine.add("talk", id="a")
    stage.engine.add_turn(SessionId("a"), text, text)
    async with stage.playing() as window:
        await stage.settle(0.2)
        views = window.chat.transcript.message_views()
        assert len(views) == 2
        assert all(view.height() > 0 for view in views)
        assert "<script>" in shown_text(views[1]) or "<script>" not in text
        copied = []
        window.chat.copy_requested.connect(copied.append)
        views[0].copy_all()
        assert copied == [text] or "\ud800" in text


async def test_a_long_conversation_opens_at_its_end_and_holds_still_while_more_is_loaded(stage):
    stage.engine.add("talk", id="a")
    for i in range(70):
        stage.engine.add_turn(SessionId("a"), f"question {i}", f"answer {i}\n\n" + "text " * 60)
    async with stage.playing() as window:
        transcript = window.chat.transcript
        await until(lambda: len(transcript.message_views()) == 80)
        await stage.settle()
        bar = transcript.verticalScrollBar()
        assert bar.value() == bar.maximum()
        assert len(transcript.message_views()) == 80
        bar.setValue(10)
        anchor = transcript.message_views()[0].message.id
        before = transcript.top_of(anchor)
        await until(lambda: len(transcript.message_views()) == 140)
        assert len(transcript.message_views()) > 80
        assert abs(transcript.top_of(anchor) - before) <= 1


async def test_a_growing_reply_does_not_pull_the_reader_down(stage):
    stage.engine.add("talk", id="a")
    for i in range(20):
        stage.engine.add_turn(SessionId("a"), f"question {i}", "text " * 100)
    async with stage.playing() as window:
        await until(lambda: len(window.chat.transcript.message_views()) == 40)
        stage.desk.chat.send("go on")
        await stage.settle()
        bar = window.chat.transcript.verticalScrollBar()
        assert bar.value() == bar.maximum()
        stage.engine.stream(SessionId("a"), "line\n\n" * 40)
        await stage.settle()
        assert bar.value() == bar.maximum()
        bar.setValue(bar.maximum() // 2)
        held = bar.value()
        stage.engine.stream(SessionId("a"), "line\n\n" * 40)
        await stage.settle()
        assert bar.value() == held


async def test_evidence_leads_to_its_turn(stage):
    stage.engine.add("talk", id="a")
    turns = [stage.engine.add_turn(SessionId("a"), f"q{i}", "text " * 100) for i in range(60)]
    async with stage.playing() as window:
        await stage.settle(0.3)
        window.memory.turn_requested.emit(int(turns[2]))
        await until(lambda: window.chat.transcript.visible_turn() in (turns[1], turns[2]))


async def test_deleting_offers_undo_and_undo_brings_it_back(stage):
    stage.engine.add("one", id="a", updated_at=2.0)
    stage.engine.add("two", id="b", updated_at=1.0)
    async with stage.playing() as window:
        press(window.sidebar.list, Qt.Key.Key_Delete)
        await stage.settle()
        assert window.toast.isVisible()
        assert window.chat.title.whole() == "two"
        window.toast._undo.click()
        await stage.settle()
        assert window.chat.title.whole() == "one"
        assert not window.toast.isVisible()


async def test_f2_renames_in_place(stage):
    stage.engine.add("old name", id="a")
    async with stage.playing() as window:
        window.sidebar.rename_current()
        editor = QApplication.focusWidget()
        QTest.keyClicks(editor, "new name")
        press(editor, Qt.Key.Key_Return)
        await stage.settle()
        assert stage.engine.conversations["a"].title == "new name"
        assert window.chat.title.whole() == "new name"


async def test_temporary_is_one_switch_in_two_places(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        window.chat.composer.temporary.click()
        await stage.settle()
        assert not stage.engine.conversations["a"].remember
        assert window.chat.memory_chip.text() == "Temporary"
        window.chat.memory_chip.click()
        await stage.settle()
        assert stage.engine.conversations["a"].remember
        assert not window.chat.composer.temporary.isChecked()


async def test_an_interrupted_and_a_failed_reply_say_so(stage):
    stage.engine.add("talk", id="a")
    stage.engine.add_turn(SessionId("a"), "q", "half", status=MessageStatus.INTERRUPTED)
    stage.engine.add_turn(SessionId("a"), "q", "", status=MessageStatus.FAILED, error="Out of memory. Send again.")
    async with stage.playing() as window:
        await stage.settle(0.1)
        notes = [v._note.text() for v in window.chat.transcript.message_views()[1::2]]
        assert notes == [
            "Reply cut off when Keepsake closed; kept as far as it had come.",
            "No reply came; your message is kept. Out of memory. Send again.",
        ]


async def test_every_control_has_a_name_and_text_is_in_points(stage):
    stage.engine.add("talk", id="a")
    stage.engine.add_turn(SessionId("a"), "q", "```py\nx\n```")
    async with stage.playing() as window:
        window.toast.show_text("x", undo=True)
        await stage.settle()
        nameless = [
            w for w in window.findChildren(QWidget)
            if isinstance(w, QAbstractButton | QAbstractSlider | QPlainTextEdit)
            and w.isVisible() and w.focusPolicy() != Qt.FocusPolicy.NoFocus
            and not w.accessibleName() and not getattr(w, "text", lambda: "")()
            and type(w).__name__ != "QScrollBar"
        ]  # fmt: skip
        assert nameless == []
        assert window.font().pointSizeF() > 0


async def test_f6_walks_through_the_panes(stage):
    stage.engine.add("talk", id="a")
    stage.engine.add_turn(SessionId("a"), "q", "a")
    async with stage.playing() as window:
        window.activateWindow()
        window.sidebar.list.setFocus()
        visited = []
        for _ in range(4):
            window.cycle_panes()
            visited.append(window.focusWidget())
        assert visited[0] is window.chat.transcript
        assert visited[1] is window.chat.composer.entry
        assert window.inspector.isAncestorOf(visited[2])
        assert visited[3] is window.sidebar.list


@pytest.mark.may_block(3)
async def test_themes_and_zoom_restyle_what_is_shown_and_are_kept(stage):
    stage.engine.add("talk", id="a")
    stage.engine.add_turn(SessionId("a"), "q", "a `b`\n\n```py\nx = 1\n```")
    async with stage.playing() as window:
        view = window.chat.transcript.message_views()[1]
        small = view.height()
        window.zoom(100)
        await stage.settle()
        window.set_theme(ThemeMode.DARK)
        await stage.settle()
        assert view.height() > 1.6 * small
        window.save_shape()
        assert int(str(stage.state.value("zoom"))) == 200
        assert stage.state.value("theme") == "dark"
        stage.look.apply(mode=ThemeMode.LIGHT, zoom_percent=100)


async def test_a_narrow_window_keeps_the_chat(stage):
    stage.engine.add("talk", id="a")
    async with stage.playing() as window:
        window.resize(420, 700)
        await stage.settle()
        assert window.chat.isVisible()
        assert not window.sidebar.isVisible()
        assert not window.inspector.isVisible()
        window.resize(1300, 700)
        await stage.settle()
        assert window.sidebar.isVisible()
        assert window.inspector.isVisible()


async def test_a_reply_of_any_length_streams_in_steady_steps(stage):
    """20,000 characters; the last updates must not cost much more than the first."""
    stage.engine.add("talk", id="a")
    async with stage.playing():
        stage.desk.chat.send("write a lot")
        await stage.settle()
        loop = asyncio.get_running_loop()
        steps_s = []
        for i in range(200):
            piece = "Some *words* of a reply, " * 4 if i % 7 else "\n\n- item\n- item\n\n```py\nx = 1\n```\n\n"
            started = loop.time()
            stage.engine.stream(SessionId("a"), piece)
            steps_s.append(loop.time() - started)
            await asyncio.sleep(0.001)
        early, late = sorted(steps_s[:50])[25], sorted(steps_s[-50:])[25]
        assert late < 4 * early + 0.004
