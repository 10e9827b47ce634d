"""Where a message is written: grows with its text, sends on Enter, never while an input method composes.

What is pasted with endless lines is held aside and only counted: laying it out anew at each key takes seconds.
"""

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import make_button, make_frame, make_label, set_property

MAX_LINES = 9
LONG_LINE_CHARS = 20_000  # a line to be held aside; measured: 1 MB in one line takes a second a key, this 20 ms
LONG_TEXT_CHARS = 200_000
OPENING = "Your conversations are still opening; the message is sent as soon as they are."
BUSY = "A reply is running. Esc stops it; Enter sends when it has ended."


def is_long(text: str) -> bool:
    """Whether a text is too much to be edited in place without waiting at each key."""
    if len(text) < LONG_LINE_CHARS:
        return False
    return len(text) > LONG_TEXT_CHARS or max(map(len, text.split("\n"))) > LONG_LINE_CHARS


class Entry(QPlainTextEdit):
    """The text field itself."""

    submitted = Signal()
    focus_changed = Signal(bool)
    height_wanted = Signal()
    long_pasted = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("Write a message, or “remember …”")
        self.setAccessibleName("Message")
        self.document().setDocumentMargin(1)
        self.document().documentLayout().documentSizeChanged.connect(self.fit)
        self.fit()

    def restyle(self) -> None:
        """Take the present zoom; Qt draws the placeholder in the viewport's font, which does not follow."""
        self.setFont(self._look.font(14))
        self.viewport().setFont(self._look.font(14))
        self.fit()

    def is_composing(self) -> bool:
        """Whether an input method holds text that is not committed yet."""
        return bool(self.textCursor().block().layout().preeditAreaText())

    def fit(self) -> None:
        """Be as tall as the text, within limits."""
        lines = min(MAX_LINES, max(1, int(self.document().size().height())))
        height = round(lines * self.fontMetrics().lineSpacing()) + self._look.px(4)
        if height != self.height():
            self.setFixedHeight(height)
            self.height_wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self.is_composing():
            event.accept()  # the key belongs to the composition: neither send nor break the line
        elif event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier):
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            self.submitted.emit()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if not source.hasText():
            return
        text = source.text()
        if is_long(text):
            self.long_pasted.emit(text)
        else:
            self.insertPlainText(text)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class Composer(QFrame):
    """Entry, the Temporary switch, Send or Stop, and a line for what went wrong."""

    send_requested = Signal(str)
    stop_requested = Signal()
    text_changed = Signal(str)
    temporary_toggled = Signal(bool)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._busy = False
        self._ready = False
        self._send_when_ready = False  # Enter was pressed while the store was still opening
        self._box = make_frame("composer")
        self.entry = Entry(look)
        self.temporary = make_button(
            "Temporary", "link", tip="Remember nothing of this conversation", name="Temporary conversation"
        )
        self.temporary.setCheckable(True)
        self.temporary.clicked.connect(self.temporary_toggled)
        self.send = make_button("Send ⏎", "send", self._on_send, name="Send", tip="Send (Enter)")
        self.stop = make_button("Stop", "stop", self.stop_requested.emit, tip="Stop the reply (Esc)")
        self._held = ""
        self._held_label = make_label("", "muted", wrap=True)
        self._held_remove = make_button("Remove", "link", self._on_remove, name="Remove the pasted text")
        self._held_row = QWidget()
        held = QHBoxLayout(self._held_row)
        held.setContentsMargins(0, 0, 0, 0)
        held.addWidget(self._held_label, 1)
        held.addWidget(self._held_remove)
        self._held_row.hide()
        self.error = make_label("", "error", wrap=True)
        self.error.hide()
        self.hint = make_label("", "muted", wrap=True)
        self.hint.hide()
        self._outer = QVBoxLayout(self)
        self._outer.addWidget(self._box)
        self._outer.addWidget(self.error)
        self._outer.addWidget(self.hint)
        self._inner = QVBoxLayout(self._box)
        self._inner.addWidget(self.entry)
        self._inner.addWidget(self._held_row)
        self._row = QHBoxLayout()
        self._row.addWidget(self.temporary)
        self._row.addStretch(1)
        self._row.addWidget(self.stop)
        self._row.addWidget(self.send)
        self._inner.addLayout(self._row)
        self.entry.submitted.connect(self._on_send)
        self.entry.long_pasted.connect(self._hold)
        self.entry.textChanged.connect(self._on_text)
        self.entry.focus_changed.connect(
            lambda focused: set_property(self._box, "focused", "true" if focused else "false")
        )
        look.changed.connect(self._on_look)
        self._on_look()
        self._update()

    def text(self) -> str:
        """What is written, and after it what is held aside."""
        written = self.entry.toPlainText()
        return "\n".join(part for part in (written, self._held) if part) if self._held else written

    def set_text(self, text: str) -> None:
        """Replace what is written; the cursor goes to its end."""
        if text != self.text():
            self._show_held(text if is_long(text) else "")
            self.entry.setPlainText("" if self._held else text)
            self.entry.moveCursor(self.entry.textCursor().MoveOperation.End)

    def set_ready(self, ready: bool) -> None:
        """Whether a message can be sent at all yet; writing is always possible."""
        self._ready = ready
        self._update()
        if ready and self._send_when_ready:
            self._on_send()

    def set_busy(self, busy: bool) -> None:
        """A reply is running: Stop takes the place of Send."""
        if self._busy and not busy:
            self._show_hint("")
        self._busy = busy
        self._update()

    def set_temporary(self, temporary: bool) -> None:
        """Show whether the conversation is kept out of memory."""
        self.temporary.setChecked(temporary)
        self.temporary.setText("● Temporary" if temporary else "Temporary")

    def show_error(self, text: str) -> None:
        """Say under the text what went wrong; "" to clear."""
        self.error.setText(text)
        self.error.setVisible(bool(text))

    def _on_send(self) -> None:
        if not self.text().strip():
            return
        self._send_when_ready = not self._ready
        self._show_hint(OPENING if not self._ready else BUSY if self._busy else "")
        if self._ready and not self._busy:
            self.send_requested.emit(self.text())

    def _hold(self, text: str) -> None:
        self._show_held("\n".join(part for part in (self._held, text) if part))
        self._on_text()

    def _on_remove(self) -> None:
        self._show_held("")
        self.entry.setFocus()
        self._on_text()

    def _show_held(self, text: str) -> None:
        self._held = text
        self._held_label.setText(f"+ {len(text):,} characters pasted, sent after what is written here")
        self._held_row.setVisible(bool(text))

    def _show_hint(self, text: str) -> None:
        self.hint.setText(text)
        self.hint.setVisible(bool(text))

    def _on_text(self) -> None:
        self._send_when_ready = False
        self._show_hint("")
        self._update()
        self.text_changed.emit(self.text())

    def _update(self) -> None:
        if (self.stop if not self._busy else self.send).hasFocus():
            self.entry.setFocus()  # else the focus would go to whatever comes next in the window
        self.stop.setVisible(self._busy)
        self.send.setVisible(not self._busy)
        document = self.entry.document()
        has_text = bool(self._held) or document.characterCount() > 10_000 or bool(self.entry.toPlainText().strip())
        self.send.setEnabled(self._ready and has_text)

    def _on_look(self) -> None:
        px = self._look.px
        self._outer.setContentsMargins(px(24), 0, px(24), px(16))
        self._outer.setSpacing(px(4))
        self._inner.setContentsMargins(px(12), px(10), px(12), px(10))
        self._inner.setSpacing(px(8))
        self._row.setSpacing(px(10))
        self.entry.restyle()
