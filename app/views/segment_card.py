"""One segment on the timeline: why it began, how it drifted, what it came to, and what can be done with it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget

from app.rendering.display import clean, one_line
from app.rendering.words import boundary, drift, span
from app.rendering.words_segments import recap_note, shown_summary
from app.theme import Look
from app.views.base import make_button, make_label, set_property
from core.model import Segment, SplitTurn, TurnId
from core.wording import count, say_segment_turns

SPLIT_TURNS = 40  # in a menu; a segment seldom holds more than twenty


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


class TitleEdit(QLineEdit):
    """A line to rename in: Enter takes it, Escape and leaving do not."""

    taken = Signal(str)
    left = Signal()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setAccessibleName("Name of the segment")
        self.setPlaceholderText("Leave empty to let Keepsake name it")
        self.setMaxLength(120)
        self.returnPressed.connect(lambda: self.taken.emit(self.text()))
        self.editingFinished.connect(self.left)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            event.accept()
        else:
            super().keyPressEvent(event)


class SegmentCard(QWidget):
    """A card with its place on the rail."""

    turn_requested = Signal(int)
    recap_requested = Signal(str)
    merge_requested = Signal(str)
    split_wanted = Signal(str)
    split_requested = Signal(str, int)
    rename_requested = Signal(str, str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._segment: Segment | None = None
        self._is_last = False
        self._edit: TitleEdit | None = None
        self._menu = QMenu(self)
        self._rail = Rail(look)
        self._rail.setFixedWidth(look.px(18))
        self._title = make_label("", "line-title", wrap=True)
        self._state = make_label("", "kept")
        self._more = make_button("⋯", "link", self.show_menu, tip="Rename, merge, split, recap again")
        self._more.setFixedSize(look.px(26), look.px(22))
        self._when = make_label("", "muted", wrap=True)
        self._why = make_label("", "muted", wrap=True)
        self._summary = make_label("", "line", wrap=True)
        self._note = make_label("", "small", wrap=True)
        self._again = make_button("Recap again", "jump", self._on_again)
        self._curve = DriftCurve(look)
        self._legend = make_label("closeness to the topic", "small")
        self._turns = make_button("", "jump", self._on_turns, tip="Go to the first of these turns")
        self._lay_out(look)

    def _lay_out(self, look: Look) -> None:
        px = look.px
        card = QFrame()
        card.setProperty("kind", "card")
        self._head = QHBoxLayout()
        self._head.setSpacing(px(6))
        self._head.addWidget(self._title, 1)
        for widget in (self._state, self._more):
            self._head.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        recap = QHBoxLayout()
        recap.addWidget(self._note, 1)
        recap.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.addWidget(self._turns)
        foot.addStretch(1)
        foot.addWidget(self._legend)
        column = QVBoxLayout(card)
        column.setContentsMargins(px(13), px(10), px(9), px(10))
        column.setSpacing(px(4))
        column.addLayout(self._head)
        for widget in (self._when, self._why, self._summary):
            column.addWidget(widget)
        column.addLayout(recap)
        column.addWidget(self._curve)
        column.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self._rail)
        row.addWidget(card, 1)

    def set_segment(self, segment: Segment, now: float, *, is_last: bool) -> None:
        """Show a segment; `is_last`: nothing older follows."""
        if self._segment is not None and self._segment.id != segment.id:
            self._end_edit()
        self._segment, self._is_last = segment, is_last
        self._rail.is_open, self._rail.is_last = segment.is_open, is_last
        self._rail.update()
        summary = clean(shown_summary(segment))[:2_000]
        title, named = self._name(segment, summary)
        self._title.setText(title)
        set_property(self._title, "named", "true" if named else "false")
        self._more.setAccessibleName(f"Actions for the segment {title}")
        note = recap_note(segment, now)
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
        self._note.setText(note.text)
        self._note.setVisible(bool(note.text))
        self._again.setVisible(note.offers_retry)
        self._again.setAccessibleName(f"Recap again: {title}")
        self._curve.set_values(segment.similarities)
        self._legend.setVisible(len(segment.similarities) > 1)
        self._turns.setText(say_segment_turns(segment))

    def show_menu(self) -> None:
        """Open what can be done with this segment, below its button."""
        segment = self._segment
        if segment is None:
            return
        self._menu.clear()
        self._menu.addAction("Rename…", self._begin_edit)
        merge = self._menu.addAction("Merge with the one before", self._on_merge)
        merge.setEnabled(not self._is_last)
        split = self._menu.addAction("Split at a turn…", self._on_split)
        split.setEnabled(segment.turn_count > 1)
        again = self._menu.addAction("Recap again", self._on_again)
        again.setEnabled(not segment.is_open)
        self._menu.popup(self._below_button())

    def offer_turns(self, turns: Sequence[SplitTurn]) -> None:
        """Let the user choose the turn at which a new segment begins."""
        if self._segment is None:
            return
        self._menu.clear()
        heading = self._menu.addAction("A new segment begins at")
        heading.setEnabled(False)
        for each in turns[1 : SPLIT_TURNS + 1]:
            label = f"Turn {each.number}  {one_line(each.text, 48)}".replace("&", "&&")
            self._menu.addAction(label, partial(self._on_turn, each.turn))
        self._menu.popup(self._below_button())

    def _below_button(self) -> QPoint:
        return self._more.mapToGlobal(QPoint(0, self._more.height()))

    @staticmethod
    def _name(segment: Segment, summary: str) -> tuple[str, bool]:
        """Return the title to show and whether it is a name."""
        if title := one_line(segment.title):
            return title, True
        if summary.strip():  # too little was said to name it: then its own words are the best name
            return f"“{one_line(summary, 60)}”", False
        return ("Going on now" if segment.is_open else "Small talk"), False

    def _begin_edit(self) -> None:
        self._end_edit()
        self._edit = TitleEdit(one_line(self._segment.title) if self._segment else "")
        self._edit.taken.connect(self._on_renamed)
        self._edit.left.connect(self._end_edit)
        self._head.insertWidget(0, self._edit, 1)
        self._title.hide()
        self._edit.selectAll()
        self._edit.setFocus()

    def _on_renamed(self, title: str) -> None:
        self._end_edit()
        if self._segment is not None and title.strip() != self._segment.title:
            self.rename_requested.emit(self._segment.id, title)

    def _end_edit(self) -> None:
        edit, self._edit = self._edit, None
        if edit is not None:
            self._head.removeWidget(edit)
            edit.hide()
            edit.deleteLater()
            self._title.show()
            self._more.setFocus()

    def _on_turns(self) -> None:
        if self._segment is not None:
            self.turn_requested.emit(self._segment.first_turn)

    def _on_again(self) -> None:
        if self._segment is not None:
            self.recap_requested.emit(self._segment.id)

    def _on_merge(self) -> None:
        if self._segment is not None:
            self.merge_requested.emit(self._segment.id)

    def _on_split(self) -> None:
        if self._segment is not None:
            self.split_wanted.emit(self._segment.id)

    def _on_turn(self, turn: TurnId) -> None:
        if self._segment is not None:
            self.split_requested.emit(self._segment.id, turn)

    @property
    def segment(self) -> Segment | None:
        return self._segment
