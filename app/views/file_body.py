"""The text of a memory file as a card: its Markdown, as tall as it is."""

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame

from app.theme import Look
from app.views.base import make_button
from app.views.blocks import BlocksView


class FileBody(QFrame):
    """The file's Markdown in a card as tall as it is."""

    link_activated = Signal(QUrl)
    copy_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._look = look
        self.blocks = BlocksView(look, self, size=13)
        self.blocks.link_activated.connect(self.link_activated)
        self.blocks.copy_requested.connect(self.copy_requested)
        self._more = make_button("Show more", "link", self._on_more)
        self._more.setParent(self)
        self._more.hide()

    def set_text(self, text: str) -> None:
        """Show a file."""
        self.blocks.set_text(text)
        self._place()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self.blocks.restyle()
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _on_more(self) -> None:
        self.blocks.show_more()
        self._place()

    def _place(self) -> None:
        px = self._look.px
        width = max(80, self.width() - 2 * px(13))
        height = self.blocks.height_for(width)
        self.blocks.setGeometry(px(13), px(10), width, height)
        bottom = px(10) + height
        self._more.setVisible(self.blocks.rest_chars > 0)
        if self.blocks.rest_chars:
            size = self._more.sizeHint()
            self._more.setGeometry(px(13), bottom, size.width(), size.height())
            bottom += size.height()
        self.setFixedHeight(bottom + px(10))
