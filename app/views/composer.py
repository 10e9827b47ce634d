"""Where a message is written: grows with its text, sends on Enter, never while an input method composes."""

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from app.theme import Look
from app.views.base import make_button, make_frame, make_label, set_property

MAX_LINES = 9


class Entry(QPlainTextEdit):
    """The text field itself."""

    submitted = Signal()
    focus_changed = Signal(bool)
    height_wanted = Signal()

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
        if source.hasText():
            self.insertPlainText(source.text())

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
        self.error = make_label("", "error", wrap=True)
        self.error.hide()
        self._outer = QVBoxLayout(self)
        self._outer.addWidget(self._box)
        self._outer.addWidget(self.error)
        self._inner = QVBoxLayout(self._box)
        self._inner.addWidget(self.entry)
        self._row = QHBoxLayout()
        self._row.addWidget(self.temporary)
        self._row.addStretch(1)
        self._row.addWidget(self.stop)
        self._row.addWidget(self.send)
        self._inner.addLayout(self._row)
        self.entry.submitted.connect(self._on_send)
        self.entry.textChanged.connect(self._on_text)
        self.entry.focus_changed.connect(
            lambda focused: set_property(self._box, "focused", "true" if focused else "false")
        )
        look.changed.connect(self._on_look)
        self._on_look()
        self._update()

    def text(self) -> str:
        """What is written."""
        return self.entry.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written; the cursor goes to its end."""
        if text != self.text():
            self.entry.setPlainText(text)
            self.entry.moveCursor(self.entry.textCursor().MoveOperation.End)

    def set_ready(self, ready: bool) -> None:
        """Whether a message can be sent at all yet; writing is always possible."""
        self._ready = ready
        self._update()
        if ready and self._send_when_ready:
            self._on_send()

    def set_busy(self, busy: bool) -> None:
        """A reply is running: Stop takes the place of Send."""
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
        self._send_when_ready = not self._ready
        if self._ready and not self._busy and self.text().strip():
            self.send_requested.emit(self.text())

    def _on_text(self) -> None:
        self._send_when_ready = False
        self._update()
        self.text_changed.emit(self.text())

    def _update(self) -> None:
        self.stop.setVisible(self._busy)
        self.send.setVisible(not self._busy)
        document = self.entry.document()
        has_text = document.characterCount() > 1 and (document.characterCount() > 10_000 or bool(self.text().strip()))
        self.send.setEnabled(self._ready and has_text)

    def _on_look(self) -> None:
        px = self._look.px
        self._outer.setContentsMargins(px(24), 0, px(24), px(16))
        self._outer.setSpacing(px(4))
        self._inner.setContentsMargins(px(12), px(10), px(12), px(10))
        self._inner.setSpacing(px(8))
        self._row.setSpacing(px(10))
        self.entry.setFont(self._look.font(14))
        self.entry.fit()
