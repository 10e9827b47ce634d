"""The difference of two versions, line by line; scrolls where it is long."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent

from app.rendering.memory_changes import changes_html, changes_plain
from app.theme import Look
from app.views.base import Scroll, make_label
from core.model import LineChange

MAX_HEIGHT = 200  # design pixels


class DifferenceList(Scroll):
    """What came, went, changed or was restored, with the reasons."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, margins=0, spacing=0)
        self._look = look
        self._changes: tuple[LineChange, ...] = ()
        self._text = make_label("", "note-text", wrap=True)
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.column.addWidget(self._text)
        self.setAccessibleName("What changed")

    def show_changes(self, changes: Sequence[LineChange]) -> None:
        """Show these differences."""
        self._changes = tuple(changes)
        self.restyle()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self._text.setText(changes_html(self._changes, dict(self._look.theme.colours)))
        self._text.setAccessibleName(changes_plain(self._changes) or "no difference")
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit_height()

    def _fit_height(self) -> None:
        """As tall as the text, up to a limit."""
        needed = self._text.heightForWidth(max(self._look.px(120), self.width() - self._look.px(12)))
        self.setFixedHeight(min(self._look.px(MAX_HEIGHT), needed + self._look.px(4)))
