"""Text that is as tall as it needs to be: rich prose or plain text. Selectable, never scrolls itself."""

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QTextBlockFormat, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.theme import PT_PER_PX, Look

LINE_PX = 21.0  # the least height of a line of body text, in design pixels


def prose_css(look: Look, size: float = 14) -> str:
    """The style of rendered Markdown; lengths follow the zoom."""
    theme = look.theme
    line = f"line-height: {LINE_PX * size / 14 * look.zoom_percent / 100:.1f}px; -qt-line-height-type: minimum;"
    gap, mono = look.px(8), (size - 1.5) * PT_PER_PX * look.zoom_percent / 100
    heading = f"font-weight: 600; margin-top: {look.px(10)}px; margin-bottom: {look.px(4)}px;"

    def points(px: float) -> str:
        return f"font-size: {px * PT_PER_PX * look.zoom_percent / 100:.2f}pt;"

    code = f"font-family: 'DejaVu Sans Mono', 'Menlo', 'Consolas', monospace; font-size: {mono:.2f}pt;"
    return f"""
p {{ margin: 0px 0px {gap}px 0px; {line} }} li {{ margin-bottom: {look.px(3)}px; {line} }} li p {{ margin: 0px; }}
ul, ol {{ margin: 0px 0px {gap}px 0px; }}
.h1 {{ {heading} {points(size + 4)} }} .h2 {{ {heading} {points(size + 2)} }} .h3 {{ {heading} {points(size + 1)} }}
.h4, .h5, .h6 {{ {heading} {points(size)} }}
a {{ color: {theme.colours["accent"]}; }}
code {{ {code} background-color: {theme.colours["code"]}; }}
pre {{ {code} background-color: {theme.colours["code"]}; margin: {look.px(4)}px 0px; }}
blockquote {{ color: {theme.colours["muted"]}; margin: 0px 0px {gap}px {look.px(14)}px; }}
table {{ border-color: {theme.colours["line"]}; border-style: solid; border-collapse: collapse; }}
th {{ font-weight: 600; }}
"""


class ProseView(QTextBrowser):
    """Rich or plain text with a height for every width."""

    def __init__(self, look: Look, parent: QWidget | None = None, *, size: float = 14) -> None:
        super().__init__(parent)
        self._look = look
        self._size = size
        self._html = ""
        self._plain: str | None = None
        self._dressed = False
        self._measured: tuple[int, int] = (-1, 0)  # width and the height for it
        self._natural: tuple[int, int] = (-1, 0)  # limit and the natural width within it
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setUndoRedoEnabled(False)
        self.viewport().setAutoFillBackground(False)
        document = self.document()
        document.setDocumentMargin(0)
        option = document.defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)

    @property
    def html(self) -> str:
        """The HTML that was set."""
        return self._html

    def set_html(self, html: str) -> None:
        """Show rich text made by `app.rendering.markdown`."""
        self._html, self._plain = html, None
        self._fill()

    def set_plain(self, text: str) -> None:
        """Show text as it was typed."""
        self._plain = text
        self._fill()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self._dressed = False
        self._fill()

    def height_for(self, width: int) -> int:
        """The height the text needs at this width; remembered until text or width change."""
        if self._measured[0] != width:
            document = self.document()
            document.setTextWidth(width)
            if document.size().width() != width:
                document.setTextWidth(width)  # the first layout takes the widget's width instead
            self._measured = (width, math.ceil(document.size().height()))
        return self._measured[1]

    def natural_width(self, limit: int) -> int:
        """The width of the longest line, at most `limit`."""
        if self._natural[0] != limit:
            document = self.document()
            document.setTextWidth(limit)
            if document.size().width() != limit:
                document.setTextWidth(limit)
            self._natural = (limit, min(limit, math.ceil(document.idealWidth()) + 1))
            self._measured = (-1, 0)
        return self._natural[1]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """A menu for what is selected; without a selection what is around it may have one."""
        if self.textCursor().hasSelection():
            super().contextMenuEvent(event)
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the pane around it scrolls

    def _fill(self) -> None:
        if not self._dressed:
            self._dress()
        if self._plain is None:
            self.setHtml(self._html)
        else:
            self.setPlainText(self._plain)
            form = QTextBlockFormat()
            form.setLineHeight(
                LINE_PX * self._size / 14 * self._look.zoom_percent / 100,
                QTextBlockFormat.LineHeightTypes.MinimumHeight.value,
            )
            cursor = QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.mergeBlockFormat(form)
        self._measured = self._natural = (-1, 0)

    def _dress(self) -> None:
        """Fonts and styles: costly, and the same until theme or zoom change."""
        self._dressed = True
        document = self.document()
        font = self._look.font(self._size)
        self.setFont(font)  # the document takes its font from the widget
        self.ensurePolished()
        document.setDefaultFont(font)
        document.setIndentWidth(self._look.px(22))
        if self._plain is None:
            document.setDefaultStyleSheet(
                self._look.cached(f"prose {self._size}", lambda: prose_css(self._look, self._size))
            )
