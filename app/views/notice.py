"""A message that takes the window's place: what stopped the start, what was kept, what to do."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import Mark, make_button, make_label


class Notice(QWidget):
    """Headline, text, and the two things that can be done."""

    retry_requested = Signal()
    quit_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._headline = make_label("", "hero", wrap=True)
        self._text = make_label("", "body", wrap=True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.retry = make_button("Try again", "primary", self.retry_requested.emit)
        self.quit = make_button("Quit", "plain", self.quit_requested.emit)
        buttons = QHBoxLayout()
        buttons.addWidget(self.retry)
        buttons.addWidget(self.quit)
        buttons.addStretch(1)
        inner = QWidget()
        inner.setMaximumWidth(look.px(600))
        column = QVBoxLayout(inner)
        column.setSpacing(look.px(14))
        for widget in (Mark(look, 36), self._headline, self._text):
            column.addWidget(widget)
        column.addLayout(buttons)
        outer = QVBoxLayout(self)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(inner, 8)
        row.addStretch(1)
        outer.addStretch(2)
        outer.addLayout(row)
        outer.addStretch(3)

    def show_text(self, headline: str, text: str) -> None:
        """Say what happened."""
        self._headline.setText(headline)
        self._text.setText(text)
        self.setAccessibleName(headline)
