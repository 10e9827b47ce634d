"""The Segments tab: the open conversation as a timeline, or all that is kept as a tree."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import Scroll, make_button, make_label
from app.views.segment_card import SegmentCard
from app.views.tree import TreePane
from core.model import Segment, SegmentId, SplitTurn

PAGES = ("This conversation", "Memory tree")


class Timeline(QWidget):
    """The segments of the open conversation, newest first."""

    turn_requested = Signal(int)
    recap_requested = Signal(str)
    merge_requested = Signal(str)
    split_wanted = Signal(str)
    split_requested = Signal(str, int)
    rename_requested = Signal(str, str)
    PAGE = 30

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._cards: list[SegmentCard] = []
        self._segments: tuple[Segment, ...] = ()
        self._now = 0.0
        self._limit = self.PAGE
        self._empty = make_label(
            "No segments yet. A conversation is divided where it pauses, changes the subject or grows long.",
            "lead",
            wrap=True,
        )
        self._more = make_button("Show older segments", "link", self._show_more)
        self.area = Scroll(look)
        self.area.setAccessibleName("Segments")
        self.area.column.addWidget(self._empty)
        self._list = QVBoxLayout()
        self._list.setSpacing(look.px(10))
        self.area.column.addLayout(self._list)
        self.area.column.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)
        look.changed.connect(self._rebuild)
        self._more.hide()

    def show_segments(self, segments: Sequence[Segment], now: float) -> None:
        """Show these, newest first."""
        if not segments:
            self._limit = self.PAGE
        self._segments, self._now = tuple(segments), now
        shown = self._segments[: self._limit]
        self._empty.setVisible(not shown)
        for i, segment in enumerate(shown):
            if i == len(self._cards):
                self._add_card()
            self._cards[i].set_segment(segment, now, is_last=i == len(self._segments) - 1)
            self._cards[i].show()
        for card in self._cards[len(shown) :]:
            card.hide()
        self._more.setVisible(len(self._segments) > len(shown))

    def offer_turns(self, segment_id: SegmentId, turns: Sequence[SplitTurn]) -> None:
        """Let the user choose where to split a segment."""
        for card in self._cards:
            if card.isVisible() and card.segment is not None and card.segment.id == segment_id:
                card.offer_turns(turns)

    def _add_card(self) -> None:
        card = SegmentCard(self._look)
        for mine, theirs in (
            (self.turn_requested, card.turn_requested),
            (self.recap_requested, card.recap_requested),
            (self.merge_requested, card.merge_requested),
            (self.split_wanted, card.split_wanted),
            (self.split_requested, card.split_requested),
            (self.rename_requested, card.rename_requested),
        ):
            theirs.connect(mine)
        self._cards.append(card)
        self._list.addWidget(card)

    def _show_more(self) -> None:
        self._limit += self.PAGE
        self.show_segments(self._segments, self._now)

    def _rebuild(self) -> None:
        for card in self._cards:
            card.hide()
            card.deleteLater()
        self._cards = []
        self.show_segments(self._segments, self._now)


class SegmentsTab(QWidget):
    """Two pages with a switch over them."""

    turn_requested = Signal(int)
    page_changed = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.timeline = Timeline(look)
        self.tree = TreePane(look)
        self.timeline.turn_requested.connect(self.turn_requested)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.timeline)
        self._pages.addWidget(self.tree)
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout()
        for i, name in enumerate(PAGES):
            button = make_button(name, "segment")
            button.setCheckable(True)
            button.setChecked(i == 0)
            self._group.addButton(button, i)
            self._row.addWidget(button)
        self._row.addStretch(1)
        self._group.idClicked.connect(self._on_page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        column.addWidget(self._pages, 1)
        look.changed.connect(self._on_look)
        self._on_look()

    @property
    def area(self) -> Scroll:
        """The scroll area of the timeline."""
        return self.timeline.area

    def show_segments(self, segments: Sequence[Segment], now: float) -> None:
        """Show the open conversation's segments, newest first."""
        self.timeline.show_segments(segments, now)

    def offer_turns(self, segment_id: SegmentId, turns: Sequence[SplitTurn]) -> None:
        """Let the user choose where to split a segment."""
        self.timeline.offer_turns(segment_id, turns)

    @property
    def shows_tree(self) -> bool:
        """Whether the tree is the page in front."""
        return self._pages.currentWidget() is self.tree

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        at = PAGES.index(name)
        button = self._group.button(at)
        button.setChecked(True)
        self._on_page(at)

    def _on_page(self, at: int) -> None:
        self._pages.setCurrentIndex(at)
        self.page_changed.emit(PAGES[at])

    def _on_look(self) -> None:
        px = self._look.px
        self._row.setContentsMargins(px(12), px(8), px(12), px(2))
        self._row.setSpacing(px(4))
