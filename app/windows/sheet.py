"""A small dialog of two columns: shortcuts, or facts. Opened without a nested loop."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import make_button, make_label


class ShortcutSheet(QDialog):
    """Rows of a text and what belongs to it; closes on Esc."""

    def __init__(self, parent: QWidget, look: Look, title: str, rows: list[tuple[str, str]]) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        px = look.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(20), px(24), px(16))
        column.setSpacing(px(14))
        column.addWidget(make_label(title, "title"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(28))
        grid.setVerticalSpacing(px(7))
        half = (len(rows) + 1) // 2 if len(rows) > 10 else len(rows)
        for i, (text, value) in enumerate(rows):
            at = 0 if i < half else 2
            grid.addWidget(make_label(text, "line"), i % half, at)
            shown = make_label(value, "kbd" if "shortcut" in title else "muted")
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(shown, i % half, at + 1, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(grid)
        close = make_button("Close", "plain", self.accept)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        close.setFocus()
