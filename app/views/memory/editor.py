"""The box in which a line of memory is typed: Enter saves, Esc gives up, leaving it saves what was changed."""

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.rendering.memory_rows import Row, RowKind
from app.theme import Look
from app.views.memory.layout import GAP, OUTER, PAD, SIGN_W, SIGN_X

MAX_HEIGHT = 220  # design pixels; longer text scrolls


class LineEditor(QPlainTextEdit):
    """Grows with its text. Shift+Enter starts a new line."""

    saved = Signal(str)
    cancelled = Signal()
    grown = Signal()

    def __init__(self, look: Look, row: Row, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._before = "" if row.kind is RowKind.DRAFT else row.text
        self._ended = False
        self.setProperty("kind", "line-editor")
        self.setAutoFillBackground(True)
        self.setFont(look.font(13))
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(look.px(3))
        what = "New line" if row.kind is RowKind.DRAFT else "Line"
        self.setAccessibleName(f"{what} of {row.section}; Enter saves, Escape cancels")
        self.setPlaceholderText("What should be remembered? Enter saves")
        self.setPlainText(row.text)
        self.moveCursor(QTextCursor.MoveOperation.End)
        self.textChanged.connect(self.grown)

    def text(self) -> str:
        """What is typed."""
        return self.toPlainText()

    def place_in(self, rect: QRect, row_width: int) -> None:
        """Stand over the text of a row, as tall as what is typed needs."""
        px = self._look.px
        x = rect.left() + px(OUTER + PAD + SIGN_X + SIGN_W + GAP - 6)
        width = row_width - px(OUTER + PAD) - x
        self.resize(width, max(px(28), self.height()))
        lines = sum(max(1, block.layout().lineCount()) for block in self._blocks())
        needed = lines * self.fontMetrics().lineSpacing() + 2 * self.frameWidth() + px(10)
        self.setGeometry(x, rect.top() - px(1), width, min(max(px(28), needed), px(MAX_HEIGHT)))
        self.raise_()

    def event(self, event: QEvent) -> bool:
        """Esc gives the line up; it does not stop the reply while one types here."""
        asks = event.type() is QEvent.Type.ShortcutOverride
        if asks and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._end(save=True)
        elif event.key() == Qt.Key.Key_Escape:
            self._end(save=False)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # another window or a menu of the box's own takes the focus for a moment only
        kept = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
        if event.reason() not in kept and self.isVisible():
            self._end(save=True)

    def abandon(self) -> None:
        """Neither save nor cancel any more: what is typed goes on elsewhere."""
        self._ended = True

    def _end(self, *, save: bool) -> None:
        if self._ended:
            return
        self._ended = True
        text = self.text().strip()
        if save and text and text != self._before.strip():
            self.saved.emit(text)
        else:
            self.cancelled.emit()

    def _blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid():
            yield block
            block = block.next()
