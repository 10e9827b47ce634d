"""A code block in its own frame: language and Copy at the top right, colours once it is complete."""

import math
from bisect import bisect_right

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.rendering.code import Span, highlight
from app.theme import Look
from app.views.base import make_button, make_label

COPIED_MS = 1_500


class _Colours(QSyntaxHighlighter):
    """Paints the spans that were worked out for the whole text."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._spans: tuple[Span, ...] = ()
        self._ends: list[int] = []  # of the spans, ascending
        self._forms: dict[str, QTextCharFormat] = {}

    def set_spans(self, spans: tuple[Span, ...]) -> None:
        """Colour the document anew."""
        self._spans = spans
        self._ends = [span.start + span.length for span in spans]
        self._forms = {kind: self._make_form(kind) for kind in {span.kind for span in spans}}
        if spans:
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        start = self.currentBlock().position()
        end = start + self.currentBlock().length()
        for i in range(bisect_right(self._ends, start), len(self._spans)):
            span = self._spans[i]
            if span.start >= end:
                return
            at = max(0, span.start - start)  # a span may come from the line above
            self.setFormat(at, self._ends[i] - start - at, self._forms[span.kind])

    def _make_form(self, kind: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._look.code_colour(kind))
        form.setFontItalic(kind == "comment")
        return form


class _CodeText(QPlainTextEdit):
    """Read-only text that leaves vertical scrolling to the pane around it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeView(QFrame):
    """Shows code; a growing text is appended to, not laid out again."""

    copy_requested = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "code")
        self._look = look
        self._text = ""
        self._language = ""
        self._final = False
        self._edit = _CodeText(self)
        self._edit.setProperty("kind", "code-text")
        self._edit.setReadOnly(True)
        self._edit.setFrameShape(QFrame.Shape.NoFrame)
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._edit.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._edit.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._edit.document().setDocumentMargin(0)
        self._edit.setUndoRedoEnabled(False)
        self._edit.setAccessibleName("Code")
        self._label = make_label("", "muted")
        self._label.setParent(self)
        self._copy = make_button("Copy", "link", self._on_copy, name="Copy this code")
        self._copy.setParent(self)
        self._copy.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._colours = _Colours(self._edit.document(), look)
        self.restyle()

    @property
    def text(self) -> str:
        """The code as shown."""
        return self._text

    def set_code(self, text: str, language: str, *, final: bool) -> None:
        """Show code; colours come when it is `final`."""
        if text.startswith(self._text) and self._text:
            cursor = QTextCursor(self._edit.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(self._text) :])
        elif text != self._text:
            self._edit.setPlainText(text)
        self._text, self._language, self._final = text, language, final
        self._label.setText(f"{language} ·" if language else "")
        if final:
            self._colours.set_spans(highlight(text, language))
        self._place()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self._edit.setFont(self._look.mono())
        if self._final:
            self._colours.set_spans(highlight(self._text, self._language))
        self._place()

    def height_for(self, width: int) -> int:
        """The height all lines need; a heading row or a bar for long lines adds to it."""
        look = self._look
        spacing = math.ceil(QFontMetricsF(self._edit.font()).lineSpacing())
        longest = max((len(line) for line in self._text.split("\n")), default=0)
        wide = longest * self._edit.fontMetrics().averageCharWidth() > width - look.px(24)
        bar = look.px(12) if wide else 0
        return self._head(width) + spacing * (self._text.count("\n") + 1) + look.px(20) + bar

    def _head(self, width: int) -> int:
        """The height of a row for label and Copy, if the first line does not leave room beside it."""
        first = len(self._text.partition("\n")[0]) * self._edit.fontMetrics().averageCharWidth()
        label = self._label.sizeHint().width() + self._copy.sizeHint().width()
        return self._look.px(20) if first + label + self._look.px(44) > width else 0

    def resizeEvent(self, event: object) -> None:
        self._place()

    def _place(self) -> None:
        look, width = self._look, self.width()
        copy, label = self._copy.sizeHint(), self._label.sizeHint()
        top = look.px(6)
        self._copy.setGeometry(width - copy.width() - look.px(8), top, copy.width(), copy.height())
        left = self._copy.x() - label.width() - look.px(2)
        self._label.setGeometry(left, top, label.width(), copy.height())
        head = self._head(width)
        self._edit.setGeometry(
            look.px(12), look.px(10) + head, max(40, width - look.px(24)), self.height() - look.px(14) - head
        )
        self._label.raise_()
        self._copy.raise_()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._text)
        self._copy.setText("Copied")
        self._place()
        QTimer.singleShot(COPIED_MS, self, self._reset_copy)

    def _reset_copy(self) -> None:
        self._copy.setText("Copy")
        self._place()
