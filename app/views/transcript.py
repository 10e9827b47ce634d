"""The scrolling column of messages: newest first to appear, earlier ones when scrolled to.

Stays at the bottom only while the reader is there; otherwise what is on screen does not move, whatever
grows or is inserted around it. Many messages are built in short slices, so the window never stalls.
"""

import time
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea
from shiboken6 import delete

from app.theme import Look
from app.views.base import make_button, make_named
from app.views.message import PAD_X, PAD_Y, MessageView
from core.model import Message, MessageId, MessageStatus, Role, TurnId

FIRST_SLICE = 6  # messages built at once when a conversation opens: about a screenful
SLICE_S = 0.008
SPACING, SIDE, TOP = 18, 28, 20  # between what is visible of the messages, design pixels
MAX_COLUMN = 900  # wider lines are hard to read
NEAR_END_PX = 24


class Transcript(QScrollArea):
    """Shows messages; asks for earlier ones when the reader nears the beginning."""

    earlier_wanted = Signal()
    copy_requested = Signal(str)
    link_activated = Signal(QUrl)
    remember_requested = Signal(Message)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._views: dict[MessageId, MessageView] = {}
        self._order: list[MessageView] = []  # as placed, oldest first
        self._wanted: tuple[Message, ...] = ()
        self._separators: Mapping[TurnId, str] = {}
        self._has_earlier = False
        self._waiting = ""
        self._jump: TurnId | None = None
        self._at_end = True
        self._placing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setObjectName("transcript")
        self.setAccessibleName("Messages")
        self._newest = make_button("↓ Newest", "float", self.scroll_to_end, tip="Go to the newest message (End)")
        self._newest.setParent(self)
        self._newest.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the End key does the same
        self._newest.hide()
        self._column = make_named("scrolled")
        self.setWidget(self._column)
        self._build_timer = QTimer(self, interval=0, singleShot=True)
        self._build_timer.timeout.connect(self._build_slice)
        self._place_timer = QTimer(self, interval=0, singleShot=True)
        self._place_timer.timeout.connect(self.place)
        self.verticalScrollBar().valueChanged.connect(self._on_scroll)
        look.changing.connect(self._thin_out)
        look.changed.connect(self._on_look)

    def message_views(self) -> Sequence[MessageView]:
        """The messages that are built, oldest first."""
        return tuple(self._order)

    def show_messages(self, messages: Sequence[Message], has_earlier: bool) -> None:
        """Show these and no others; what is shown already is updated, not built again."""
        self._has_earlier = has_earlier
        ids = {m.id for m in messages}
        if not ids & self._views.keys():
            self._at_end = True
        for gone in self._views.keys() - ids:
            view = self._views.pop(gone)
            self._order.remove(view)
            view.hide()
            view.deleteLater()
        added = len(messages) > len(self._wanted) and bool(self._wanted)
        if added and messages and messages[-1].id not in self._views and self._wanted[-1].id in ids:
            self._at_end = True  # the user has just sent something
        self._wanted = tuple(messages)
        now = time.time()
        for message in messages:
            shown = self._views.get(message.id)
            if shown is not None and shown.message != message:
                shown.set_message(message, now)
        self._build(limit=FIRST_SLICE)
        self.place()

    def append_piece(self, message_id: MessageId, text: str) -> None:
        """More of a running reply has arrived."""
        if (view := self._views.get(message_id)) is not None:
            view.append(text)
            self.place()

    def set_separators(self, separators: Mapping[TurnId, str]) -> None:
        """Which turns begin a segment, and why."""
        self._separators = separators
        for view in self._order:
            self._separate(view)
        self.place()

    def set_waiting(self, text: str) -> None:
        """What a reply without text waits for."""
        self._waiting = text
        for view in self._order[-2:]:
            if view.message.status in (MessageStatus.WAITING, MessageStatus.STREAMING):
                view.set_waiting(text)
        self._place_timer.start()

    def jump_to(self, turn: TurnId) -> None:
        """Bring a turn on screen and let it glow, as soon as it is built."""
        self._jump = turn
        self._try_jump()

    def scroll_to_end(self) -> None:
        """Show the newest message."""
        self._at_end = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def place(self) -> None:
        """Lay the column out; keeps the end, or what the reader sees, where it is."""
        if self._placing:
            return
        self._placing = True
        self._place_timer.stop()
        anchor = self._anchor()
        look, width = self._look, self.viewport().width()
        side = max(look.px(SIDE), (width - look.px(MAX_COLUMN)) // 2) - look.px(PAD_X)
        inner = max(120, width - 2 * side)
        y = look.px(TOP - PAD_Y)
        for view in self._order:
            height = view.height_for(inner)
            if view.geometry().getRect() != (side, y, inner, height):
                view.setGeometry(side, y, inner, height)
            y += height + look.px(SPACING - 2 * PAD_Y)
        self._column.resize(width, max(y, self.viewport().height()))
        bar = self.verticalScrollBar()
        if self._at_end:
            bar.setValue(bar.maximum())
        elif anchor is not None:
            bar.setValue(anchor[0].y() - anchor[1])
        self._placing = False
        self._offer_newest()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_Home:
            bar.setValue(bar.minimum())
        elif event.key() == Qt.Key.Key_End:
            self.scroll_to_end()
        else:
            super().keyPressEvent(event)

    def _anchor(self) -> tuple[MessageView, int] | None:
        """The first message on screen and where it stands, to hold it there."""
        top = self.verticalScrollBar().value()
        for view in self._order:
            if view.geometry().bottom() > top:
                return view, view.y() - top
        return None

    def _build(self, limit: int) -> None:
        """Build up to `limit` missing messages, newest first; the rest follows in slices."""
        missing = [m for m in self._wanted if m.id not in self._views]
        now, later = missing[len(missing) - limit :], missing[: len(missing) - limit]
        for message in reversed(now if limit else ()):
            self._make(message)
        if later:
            self._build_timer.start()

    def _build_slice(self) -> None:
        end = time.monotonic() + SLICE_S
        missing = [m for m in self._wanted if m.id not in self._views]
        self._sort_by_distance(missing)
        while missing and time.monotonic() < end:
            self._make(missing.pop())
        self.place()
        self._try_jump()
        if missing:
            self._build_timer.start()

    def _sort_by_distance(self, missing: list[Message]) -> None:
        """Nearest to what is on screen last, where it is taken first: at the end of a conversation, the newest."""
        anchor = self._anchor()
        if not self._at_end and anchor is not None:
            here = anchor[0].message.id  # ids ascend
            missing.sort(key=lambda m: -abs(m.id - here))

    def _make(self, message: Message) -> None:
        view = MessageView(self._look, message, time.time(), self._column)
        view.setGeometry(0, -10_000, 10, 10)  # not placed yet: must not be taken for what is on screen
        self._views[message.id] = view
        self._order = [self._views[m.id] for m in self._wanted if m.id in self._views]
        view.copy_requested.connect(self.copy_requested)
        view.link_activated.connect(self.link_activated)
        view.remember_requested.connect(self.remember_requested)
        view.height_changed.connect(self._place_timer.start)
        if message.status in (MessageStatus.WAITING, MessageStatus.STREAMING):
            view.set_waiting(self._waiting)
        self._separate(view)
        view.show()

    def _separate(self, view: MessageView) -> None:
        if view.message.role is Role.USER:
            view.set_separator(self._separators.get(view.message.turn, ""))

    def _try_jump(self) -> None:
        turn = self._jump
        target = [v for v in self._order if v.message.turn == turn]
        complete = len(self._order) == len(self._wanted)
        if turn is None or (not target and not complete):
            return
        self._jump = None
        if target:
            self._at_end = False
            self.place()
            self.verticalScrollBar().setValue(max(0, target[0].y() - self._look.px(40)))
            for view in target:
                view.flash()

    def _on_scroll(self, value: int) -> None:
        if self._placing:
            return
        self._at_end = value >= self.verticalScrollBar().maximum() - NEAR_END_PX
        self._offer_newest()
        if value < self.viewport().height() and self._has_earlier and self._order:
            self.earlier_wanted.emit()

    def _offer_newest(self) -> None:
        """A way back for the reader who is far from the end."""
        bar = self.verticalScrollBar()
        self._newest.setVisible(bar.maximum() - bar.value() > self.viewport().height() // 2)
        if self._newest.isVisible():
            size, gap = self._newest.sizeHint(), self._look.px(10)
            self._newest.setGeometry(
                (self.width() - size.width()) // 2, self.height() - size.height() - gap, size.width(), size.height()
            )
            self._newest.raise_()

    def _thin_out(self) -> None:
        """Before a new look: drop what is far from the screen, for Qt styles each widget anew, seen or not."""
        top, height = self.verticalScrollBar().value(), self.viewport().height()
        for view in [v for v in self._order if v.y() > top + 2 * height or v.geometry().bottom() < top - height]:
            del self._views[view.message.id]
            self._order.remove(view)
            delete(view)  # at once: what waits for deletion would be styled too

    def _on_look(self) -> None:
        for view in self._order:
            view.restyle()
        self._build(limit=0)
        self.place()

    def visible_turn(self) -> TurnId | None:
        """The turn at the top of the screen."""
        anchor = self._anchor()
        return anchor[0].message.turn if anchor else None

    def top_of(self, message_id: MessageId) -> int:
        """Where a message stands on screen, from the top of the pane."""
        return self._views[message_id].mapTo(self, QPoint(0, 0)).y()
