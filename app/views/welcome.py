"""What the centre shows while there is no message: a welcome at first, later a short hint."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import Mark, Scroll, make_label

_FIRST = (
    ("Private", "Conversations and memory are files in {folder}. Nothing is sent anywhere."),
    ("Remembers", "What is worth keeping appears at the right while you chat, each line with the turn it came from."),
    (
        "Reversible",
        "Every change to memory is recorded and can be taken back. “Temporary” keeps a conversation out of it.",
    ),
)


class Welcome(QWidget):
    """Two texts: for the very first start, and for an empty conversation."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._folder = "its data folder"
        self._hero = make_label("A chat that shows what it remembers", "hero", wrap=True)
        self._lead = make_label("", "lead", wrap=True)
        self._rows = QWidget()
        self._rows_column = QVBoxLayout(self._rows)
        self._rows_column.setContentsMargins(0, 0, 0, 0)
        self._texts = []
        for name, text in _FIRST:
            row = QHBoxLayout()
            heading = make_label(name, "heading")
            heading.setAlignment(Qt.AlignmentFlag.AlignTop)
            body = make_label(text, "lead", wrap=True)
            row.addWidget(heading)
            row.addWidget(body, 1)
            self._rows_column.addLayout(row)
            self._texts.append((heading, body, text))
        inner = QWidget()
        self._inner = inner
        column = self._column = QVBoxLayout(inner)
        column.addWidget(Mark(look, 36))
        column.addWidget(self._hero)
        column.addWidget(self._lead)
        column.addWidget(self._rows)
        area = Scroll(look, margins=0, spacing=0)  # large type in a low window
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = area.column
        outer.setAlignment(Qt.AlignmentFlag(0))
        outer.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(inner, 8)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(3)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)
        look.changed.connect(self._on_look)
        self._on_look()
        self.set_first(True)

    def set_folder(self, folder: str) -> None:
        """Name the data folder in the text."""
        self._folder = folder
        for _, body, text in self._texts:
            body.setText(text.format(folder=folder))

    def set_first(self, first: bool) -> None:
        """Whether there is no conversation at all yet."""
        self._rows.setVisible(first)
        self._hero.setText("A chat that shows what it remembers" if first else "What is on your mind?")
        self._lead.setText(
            "Write your first message below."
            if first
            else "Write below. Lines worth keeping appear at the right, with the turn they came from."
        )

    def _on_look(self) -> None:
        px = self._look.px
        self._column.setSpacing(px(12))
        self._rows_column.setSpacing(px(10))
        self._rows_column.setContentsMargins(0, px(8), 0, 0)
        self._inner.setMaximumWidth(px(560))
        for heading, _, _ in self._texts:
            heading.setFixedWidth(px(92))
            heading.setContentsMargins(0, px(2), 0, 0)
