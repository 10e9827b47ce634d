"""Pieces of the Prompt tab: the bar of tokens, one part with its text folded away, one recalled item."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.rendering.display import clean, one_line
from app.rendering.words_prompt import NAMES, describe_prompt, left_out, part_hint, part_tokens, recalled_head
from app.theme import Look
from app.views.base import make_button, make_label
from core.model import PartKind, PromptPart, RecalledItem, SentPrompt
from core.wording import count

SHOWN_CHARS = 12_000  # of a part's text; Copy gives all of it
ITEM_CHARS = 400
_COLOURS = {
    PartKind.SYSTEM: "dot",
    PartKind.DOCUMENT: "accent",
    PartKind.RECAP: "added",
    PartKind.PROFILE: "warning",
    PartKind.RECALLED: "removed",
    PartKind.QUESTION: "text",
}
_CODE_COLOURS = {
    PartKind.INSTRUCTIONS: "keyword",
    PartKind.PREFERENCES: "number",
    PartKind.FILE: "string",
    PartKind.ARCHIVED: "comment",
    PartKind.HISTORY: "name",
}


def colour_of(look: Look, kind: PartKind) -> QColor:
    """The colour a part has in the bar and beside its name."""
    return look.colour(_COLOURS[kind]) if kind in _COLOURS else look.code_colour(_CODE_COLOURS[kind])


class TokenBar(QWidget):
    """The model's window as a bar: a piece a part, what is free, what is kept for the answer."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._sent: SentPrompt | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_prompt(self, sent: SentPrompt) -> None:
        """Show the parts of a prompt."""
        self._sent = sent
        self.setAccessibleName(describe_prompt(sent))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(200), self._look.px(14))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._sent is None:
            return
        box, radius = QRectF(self.rect()), self._look.px(4)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QPainterPath()
        clip.addRoundedRect(box, radius, radius)
        painter.setClipPath(clip)
        painter.fillRect(box, self._look.colour("line"))
        whole = max(1, self._sent.context_tokens, sum(p.tokens for p in self._sent.parts) + self._sent.reserve_tokens)
        left, gap = 0.0, max(1.0, self._look.px(1))
        for part in self._sent.parts:
            width = box.width() * part.tokens / whole
            if width >= 0.5:
                painter.fillRect(QRectF(left, 0, max(1.0, width - gap), box.height()), colour_of(self._look, part.kind))
            left += width
        reserve = box.width() * self._sent.reserve_tokens / whole
        painter.fillRect(QRectF(box.width() - reserve, 0, reserve, box.height()), self._look.colour("handle"))
        painter.end()


class _Swatch(QWidget):
    """A part's colour beside its name."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._kind = PartKind.SYSTEM
        self.setFixedSize(look.px(10), look.px(10))

    def set_kind(self, kind: PartKind) -> None:
        """Take a part's colour."""
        self._kind = kind
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour_of(self._look, self._kind))
        painter.drawRoundedRect(QRectF(self.rect()), self._look.px(3), self._look.px(3))
        painter.end()


class PartRow(QFrame):
    """A part: name and tokens, what was left out, and its exact text on demand."""

    copy_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._text = ""
        self._name = ""
        self._swatch = _Swatch(look)
        self.fold = make_button("", "link", self._on_fold)
        self.is_open = False
        self.tokens = make_label("", "muted")
        self.note = make_label("", "warning", wrap=True)
        self.body = QFrame()
        self.body.setProperty("kind", "code")
        self.text = make_label("", "line", wrap=True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.more = make_label("", "muted")
        self.copy = make_button("Copy", "link", lambda: self.copy_requested.emit(self._text))
        head = QHBoxLayout()
        head.setSpacing(look.px(8))
        head.addWidget(self._swatch)
        head.addWidget(self.fold)
        head.addStretch(1)
        head.addWidget(self.tokens)
        foot = QHBoxLayout()
        foot.addWidget(self.more, 1)
        foot.addWidget(self.copy)
        inner = QVBoxLayout(self.body)
        inner.setContentsMargins(look.px(10), look.px(8), look.px(10), look.px(6))
        inner.addWidget(self.text)
        inner.addLayout(foot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, look.px(2), 0, look.px(2))
        column.setSpacing(look.px(3))
        column.addLayout(head)
        column.addWidget(self.note)
        column.addWidget(self.body)
        self.note.setContentsMargins(look.px(18), 0, 0, 0)
        self.body.hide()

    def set_part(self, part: PromptPart) -> None:
        """Show a part; whether it is open stays as it is."""
        self._name, self._text = NAMES[part.kind], part.text.strip()
        self._swatch.set_kind(part.kind)
        self.tokens.setText(part_tokens(part))
        self.tokens.setAccessibleName(count(part.tokens, "token"))
        self.note.setText(left_out(part))
        self.note.setVisible(bool(part.left_out))
        self.fold.setToolTip(part_hint(part))
        self.fold.setEnabled(bool(self._text))
        self.copy.setAccessibleName(f"Copy: {self._name}")
        self._show_text()

    def _on_fold(self) -> None:
        self.is_open = not self.is_open
        self._show_text()

    def _show_text(self) -> None:
        is_open = self.is_open and bool(self._text)
        self.fold.setText(f"{'▾' if is_open else '▸'} {self._name}" if self._text else self._name)
        self.fold.setAccessibleName(f"{self._name}, {'shown' if is_open else 'hidden'}")
        if is_open:  # the text is laid out only when it is looked at
            shown = clean(self._text[:SHOWN_CHARS])
            hidden = len(self._text) - SHOWN_CHARS
            self.text.setText(shown)
            self.more.setText(f"{count(hidden, 'more character')}; Copy gives all." if hidden > 0 else "")
        self.body.setVisible(is_open)


class RecalledRow(QWidget):
    """Something of another conversation that was considered, with its score."""

    turn_requested = Signal(str, int)

    def __init__(self, look: Look, item: RecalledItem) -> None:
        super().__init__()
        self._item = item
        head: QWidget = make_label(recalled_head(item), "muted", wrap=True)
        self.jump = None
        if item.kind == "turn" and item.ref.isdigit():
            tip = "Go to where this was said"
            self.jump = make_button(recalled_head(item), "jump", self._on_jump, tip=tip)
            head = self.jump
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(1))
        column.addWidget(head)
        column.addWidget(make_label(clean(one_line(item.text, ITEM_CHARS)), "line", wrap=True))

    def _on_jump(self) -> None:
        self.turn_requested.emit(self._item.session_id, int(self._item.ref))
