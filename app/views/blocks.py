"""A text as a column of prose and code blocks, also while it grows.

Finished blocks are left alone; only the open tail is set anew. The column lays itself out by hand and
remembers its height for a width.
"""

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.rendering.display import clean, cut_page
from app.rendering.markdown import Block, Code, MarkdownStream, Prose, Rendered
from app.theme import Look
from app.views.code import CodeView
from app.views.prose import ProseView

JOIN_CHARS = 3_000  # neighbouring prose shares one document up to this much HTML
GAP = 8  # between blocks, design pixels

_View = ProseView | CodeView


class BlocksView(QWidget):
    """Shows Markdown, or plain text as it was typed; very long texts a page at a time."""

    copy_requested = Signal(str)
    link_activated = Signal(QUrl)

    def __init__(self, look: Look, parent: QWidget | None = None, *, plain: bool = False, size: float = 14) -> None:
        super().__init__(parent)
        self._look = look
        self._plain = plain
        self._size = size
        self._stream = MarkdownStream()
        self._done: list[_View] = []
        self._tail: list[_View] = []
        self._rest = ""
        self._height: tuple[int, int] = (-1, 0)
        self._settled: tuple[int, int, int] = (-1, 0, 0)  # width, how many blocks stand, where they end
        self.text = ""  # all of it, as given

    @property
    def rest_chars(self) -> int:
        """How much of the text is not shown yet."""
        return len(self._rest)

    def set_text(self, text: str, *, final: bool = True) -> None:
        """Show a text from its beginning."""
        for view in (*self._done, *self._tail):
            _discard(view)
        self._done, self._tail, self._stream = [], [], MarkdownStream()
        self._settled = (-1, 0, 0)
        self.text = text
        shown, self._rest = cut_page(clean(text))
        self._add(shown)
        if final:
            self.finish()

    def append(self, piece: str) -> None:
        """More text has arrived."""
        self.text += piece
        if self._rest:
            self._rest += clean(piece)
        else:
            self._add(clean(piece))

    def finish(self) -> None:
        """The text is complete: the tail becomes final."""
        if not self._rest and not self._plain:
            self._show(self._stream.finish())

    def show_more(self) -> None:
        """Show the next page of a very long text."""
        shown, self._rest = cut_page(self._rest)
        self._add(shown)
        self.finish()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        for view in (*self._done, *self._tail):
            view.restyle()
        self._height, self._settled = (-1, 0), (-1, 0, 0)

    def height_for(self, width: int) -> int:
        """The height at this width; places the blocks."""
        if self._height[0] != width:
            self._height = (width, self._place(width))
        return self._height[1]

    def natural_width(self, limit: int) -> int:
        """The width of the longest line, at most `limit`."""
        widths = [v.natural_width(limit) for v in self._done if isinstance(v, ProseView)]
        self._height, self._settled = (-1, 0), (-1, 0, 0)  # measuring laid them out for another width
        return max(widths, default=limit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.height_for(self.width())

    def _place(self, width: int) -> int:
        """Place the blocks; those above the last finished one stand already if the width is the same."""
        gap = self._look.px(GAP)
        settled, y = (self._settled[1], self._settled[2]) if self._settled[0] == width else (0, 0)
        for i, view in enumerate((*self._done[settled:], *self._tail), start=settled):
            if i == len(self._done) - 1:
                self._settled = (width, i, y)  # neighbouring prose may still join the last one
            height = view.height_for(width)
            y += gap if y else 0
            view.setGeometry(0, y, width, height)
            if view.isHidden():
                view.show()
            y += height
        return y

    def _add(self, text: str) -> None:
        if self._plain:
            # Each page stays one document; a user's text does not grow.
            self._done.append(view := self._make_prose())
            view.set_plain(text.strip("\n"))
        elif text:
            self._show(self._stream.feed(text))
        self._height = (-1, 0)

    def _show(self, rendered: Rendered) -> None:
        spare = self._tail
        for block in rendered.finished:
            if isinstance(block, Prose) and self._join(block):
                continue
            self._done.append(self._fill(block, spare, final=True))
        self._tail = [self._fill(block, spare, final=False) for block in rendered.tail]
        for view in spare:
            _discard(view)
        self._height = (-1, 0)

    def _join(self, block: Prose) -> bool:
        """Add finished prose to the document above it if that stays small."""
        last = self._done[-1] if self._done else None
        if not isinstance(last, ProseView) or len(last.html) + len(block.html) > JOIN_CHARS:
            return False
        last.set_html(last.html + block.html)
        return True

    def _fill(self, block: Block, spare: list[_View], *, final: bool) -> _View:
        """A view with this block in it, reusing one of the old tail of the same kind."""
        kind = CodeView if isinstance(block, Code) else ProseView
        view = next((v for v in spare if isinstance(v, kind)), None)
        if view is not None:
            spare.remove(view)
        if isinstance(block, Code):
            code = view if isinstance(view, CodeView) else self._make_code()
            code.set_code(block.text, block.language, final=final)
            return code
        prose = view if isinstance(view, ProseView) else self._make_prose()
        if prose.html != block.html:
            prose.set_html(block.html)
        return prose

    def _make_prose(self) -> ProseView:
        view = ProseView(self._look, self, size=self._size)
        view.anchorClicked.connect(self.link_activated)
        return view

    def _make_code(self) -> CodeView:
        view = CodeView(self._look, self)
        view.copy_requested.connect(self.copy_requested)
        return view


def _discard(view: QWidget) -> None:
    view.hide()
    view.deleteLater()
