"""The Segments tab: a timeline of cards, newest first, each with why it began and how it drifted."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.display import clean, one_line
from app.rendering.words import boundary, count, drift, span, turns_range
from app.theme import Look
from app.views.base import Scroll, make_button, make_label, set_property
from core.model import Segment


class DriftCurve(QWidget):
    """How close each message stayed to the topic before it: a small line, high is close."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._values: tuple[float, ...] = ()

    def set_values(self, values: Sequence[float]) -> None:
        """Show similarities in [-1, 1]; hidden below two points."""
        self._values = tuple(values)
        self.setVisible(len(values) > 1)
        if self._values:
            self.setAccessibleName(drift(self._values))
            self.setToolTip(drift(self._values))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(100), self._look.px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        if len(self._values) < 2:
            return
        low, high = min(self._values), max(self._values)
        span = max(0.08, high - low)  # a flat curve must look flat, whatever the model's range
        pad = self._look.px(4)
        box = QRectF(self.rect()).adjusted(pad, pad, -pad, -pad)
        step = box.width() / (len(self._values) - 1)
        points = [
            QPointF(box.left() + i * step, box.bottom() - (v - low) / span * box.height())
            for i, v in enumerate(self._values)
        ]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QPainterPath(QPointF(box.left(), self.height()))
        line = QPainterPath(points[0])
        for point in points:
            area.lineTo(point)
            line.lineTo(point)
        area.lineTo(QPointF(box.right(), self.height()))
        painter.fillPath(area, self._look.colour("accent_soft"))
        painter.setPen(QPen(self._look.colour("accent"), 1.5))
        painter.drawPath(line)
        lowest = points[self._values.index(low)]
        painter.setBrush(self._look.colour("accent"))
        painter.drawEllipse(lowest, 2.2, 2.2)
        painter.end()


class Rail(QWidget):
    """The line of the timeline with a dot: full for the open segment, hollow for closed ones."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.is_open = False
        self.is_last = False

    def paintEvent(self, event: QPaintEvent) -> None:
        px, x = self._look.px, self.width() / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._look.colour("handle"), 1))
        y = px(18)
        if not self.is_last:
            painter.drawLine(QPointF(x, y), QPointF(x, self.height() + px(12)))
        if not self.is_open:
            painter.drawLine(QPointF(x, 0), QPointF(x, y))
        painter.setPen(QPen(self._look.colour("accent"), 1.6))
        painter.setBrush(self._look.colour("accent" if self.is_open else "side"))
        painter.drawEllipse(QPointF(x, y), px(5), px(5))
        painter.end()


class SegmentCard(QWidget):
    """One segment on the timeline."""

    turn_requested = Signal(int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._segment: Segment | None = None
        self._rail = Rail(look)
        self._rail.setFixedWidth(look.px(18))
        card = QFrame()
        card.setProperty("kind", "card")
        self._title = make_label("", "line-title", wrap=True)
        self._state = make_label("", "kept")
        self._when = make_label("", "muted", wrap=True)
        self._why = make_label("", "muted", wrap=True)
        self._summary = make_label("", "line", wrap=True)
        self._curve = DriftCurve(look)
        self._legend = make_label("closeness to the topic", "small")
        self._turns = make_button("", "jump", self._on_turns, tip="Go to the first of these turns")
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._state, 0, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.addWidget(self._turns)
        foot.addStretch(1)
        foot.addWidget(self._legend)
        column = QVBoxLayout(card)
        px = look.px
        column.setContentsMargins(px(13), px(10), px(13), px(10))
        column.setSpacing(px(4))
        column.addLayout(head)
        for widget in (self._when, self._why, self._summary, self._curve):
            column.addWidget(widget)
        column.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self._rail)
        row.addWidget(card, 1)

    def set_segment(self, segment: Segment, now: float, *, is_last: bool) -> None:
        """Show a segment; `is_last`: nothing older follows."""
        self._segment = segment
        self._rail.is_open, self._rail.is_last = segment.is_open, is_last
        self._rail.update()
        summary = clean(segment.summary)[:2_000]
        title, named = one_line(segment.title), bool(one_line(segment.title))
        if not named:  # too little was said to name it: then its own words are the best name
            title = (
                f"“{one_line(summary, 60)}”" if summary.strip() else "Going on now" if segment.is_open else "Small talk"
            )
        self._title.setText(title)
        set_property(self._title, "named", "true" if named else "false")
        self._state.setText("● now" if segment.is_open else "")
        when = span(segment.started_at, segment.ended_at, now)
        self._when.setText(f"{when} · {count(segment.turn_count, 'turn')}")
        why = boundary(segment)
        self._why.setText(
            f"Began because {why}." if why and "silence" not in why else f"Began after {why}." if why else ""
        )
        self._why.setVisible(bool(why))
        self._summary.setText(summary)
        self._summary.setVisible(bool(summary) and title != f"“{summary.strip()}”")
        self._curve.set_values(segment.similarities)
        self._legend.setVisible(len(segment.similarities) > 1)
        self._turns.setText(turns_range(segment))

    def _on_turns(self) -> None:
        if self._segment is not None:
            self.turn_requested.emit(self._segment.first_turn)


class SegmentsTab(QWidget):
    """Shows the segments of the open conversation, newest first."""

    turn_requested = Signal(int)
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
                self._cards.append(card := SegmentCard(self._look))
                card.turn_requested.connect(self.turn_requested)
                self._list.addWidget(card)
            self._cards[i].set_segment(segment, now, is_last=i == len(self._segments) - 1)
            self._cards[i].show()
        for card in self._cards[len(shown) :]:
            card.hide()
        self._more.setVisible(len(self._segments) > len(shown))

    def _show_more(self) -> None:
        self._limit += self.PAGE
        self.show_segments(self._segments, self._now)

    def _rebuild(self) -> None:
        for card in self._cards:
            card.hide()
            card.deleteLater()
        self._cards = []
        self.show_segments(self._segments, self._now)
