"""A short message over the chat that goes away by itself, with Undo where something can be undone."""

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.theme import Look
from app.views.base import make_button, make_label

SHOWN_MS = 8_000


class Toast(QFrame):
    """Stands at the bottom of the widget it is made for."""

    undo_requested = Signal()
    gone = Signal()

    def __init__(self, look: Look, over: QWidget, *, above: int = 150) -> None:
        """`above`: how far over the lower edge, in design pixels."""
        super().__init__(over)
        self.setProperty("kind", "toast")
        self._look = look
        self._over = over
        self._above = above
        self._label = make_label("", "toast")
        self._undo = make_button("Undo", "plain", self._on_undo)
        self._close = make_button("✕", "plain", self.dismiss, name="Close this message")
        row = QHBoxLayout(self)
        row.setContentsMargins(look.px(14), look.px(8), look.px(8), look.px(8))
        row.setSpacing(look.px(12))
        for widget in (self._label, self._undo, self._close):
            row.addWidget(widget)
        self._timer = QTimer(self, interval=SHOWN_MS, singleShot=True)
        self._timer.timeout.connect(self._on_time)
        over.installEventFilter(self)
        self.hide()

    def show_text(self, text: str, *, undo: bool = False) -> None:
        """Show a message for eight seconds; longer while the pointer or focus is on it."""
        self._label.setText(text)
        self._undo.setVisible(undo)
        self._place()
        self.show()
        self.raise_()
        self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        self.adjustSize()
        x = (self._over.width() - self.width()) // 2
        self.move(max(4, x), self._over.height() - self.height() - self._look.px(self._above))

    def _on_undo(self) -> None:
        self._leave()
        self.undo_requested.emit()

    def _on_time(self) -> None:
        if self.underMouse() or self._undo.hasFocus():
            self._timer.start()
        else:
            self.dismiss()

    def dismiss(self) -> None:
        """Take the message away; what it offered is no longer on screen."""
        if self.isVisible():
            self._leave()
            self.gone.emit()

    def _leave(self) -> None:
        """Hide; the focus goes back to the chat, not to whatever comes next in the window."""
        self._timer.stop()
        if self._undo.hasFocus() or self._close.hasFocus():
            self._over.setFocus()
        self.hide()
