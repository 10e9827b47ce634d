"""One message of the chat: the user's bubble, or a reply with its time, state and actions.

Lays itself out by hand: `height_for` is remembered for a width, so a growing reply costs the messages
above it nothing.
"""

from datetime import datetime

from PySide6.QtCore import Property as QtProperty
from PySide6.QtCore import QPropertyAnimation, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.rendering.display import clean
from app.rendering.words import clock_time
from app.theme import Look
from app.views.base import make_button, make_label, set_property
from app.views.blocks import BlocksView
from core.model import Message, MessageStatus, Role

BUBBLE_SHARE = 0.78  # of the column's width, at most
_NOTES = {
    MessageStatus.STOPPED: "stopped by you; kept as far as it had come",
    MessageStatus.INTERRUPTED: "cut off when Keepsake closed; kept as far as it had come",
}
_RUNNING = (MessageStatus.WAITING, MessageStatus.STREAMING)


class MessageView(QWidget):
    """Shows a message and takes the pieces of a running reply."""

    copy_requested = Signal(str)
    link_activated = Signal(QUrl)
    height_changed = Signal()

    def __init__(self, look: Look, message: Message, now: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.message = message
        self._is_user = message.role is Role.USER
        self._height: tuple[int, int] = (-1, 0)
        self._glow = 0.0
        self._frame = QRectF()
        self.body = BlocksView(look, self, plain=self._is_user)
        self._separator = make_label("", "muted")
        self._who = make_label("Keepsake", "who")
        self._when = make_label("", "muted")
        self._waiting = make_label("", "lead")
        self._note = make_label("", "muted", wrap=True)
        self._kept = make_label("", "kept")
        self._copy = make_button("Copy", "link", self.copy_all, name="Copy this reply")
        self._more = make_button("Show more", "link", self.show_more)
        for child in (self._separator, self._who, self._when, self._waiting, self._note, self._kept):
            child.setParent(self)
        for button in (self._copy, self._more):
            button.setParent(self)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Ctrl+Shift+C; a stop per message is too many
        self._animation = QPropertyAnimation(self, b"glow", self)
        self.body.copy_requested.connect(self.copy_requested)
        self.body.link_activated.connect(self.link_activated)
        self.body.set_text(message.text, final=message.status not in _RUNNING)
        self.set_message(message, now)

    def set_message(self, message: Message, now: float) -> None:
        """Take a newer state of the same message; text that is shown already stays as it is."""
        self.message = message
        running = message.status in _RUNNING
        if message.text != self.body.text and not (running and self.body.text.startswith(message.text)):
            self.body.set_text(message.text, final=not running)
        elif not running:
            self.body.finish()
        speed = f" · {message.tokens_per_s:.0f} tokens/s" if message.tokens_per_s else ""
        self._when.setText(clock_time(message.created_at, now) + speed)
        self._kept.setText(f"{message.kept} kept in memory" if message.kept else "")
        failed = message.status is MessageStatus.FAILED
        note = "No reply came." if failed and not message.error else _NOTES.get(message.status, "")
        self._note.setText(" ".join(part for part in (note, clean(message.error or "")) if part))
        set_property(self._note, "kind", "error" if failed else "muted")
        who = "You" if self._is_user else "Keepsake"
        self.setAccessibleName(f"{who}, {datetime.fromtimestamp(message.created_at):%d %B, %H:%M}")
        if self._is_user:
            self.setToolTip(clock_time(message.created_at, now))
        self._changed()

    def append(self, piece: str) -> None:
        """More of a running reply has arrived."""
        self.body.append(piece)
        self._changed()

    def set_waiting(self, text: str) -> None:
        """Say what a reply without text waits for."""
        if self._waiting.text() != text:
            self._waiting.setText(text)
            self._changed()

    def set_separator(self, text: str) -> None:
        """Say above the message why a new segment begins here; "" for none."""
        if self._separator.text() != text:
            self._separator.setText(text)
            self._changed()

    def show_more(self) -> None:
        """Show the next page of a very long text."""
        self.body.show_more()
        self._changed()

    def copy_all(self) -> None:
        """Ask for the whole text to be copied, shown or not."""
        self.copy_requested.emit(self.body.text)

    def flash(self) -> None:
        """Glow once, so that the eye finds the message; without motion it stays lit as long, then stops."""
        self._animation.stop()
        self._animation.setDuration(1_400)
        self._animation.setStartValue(1.0)
        self._animation.setEndValue(0.0 if self._look.motion else 0.999)
        self._animation.finished.connect(self._end_glow, Qt.ConnectionType.UniqueConnection)
        self._animation.start()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self.body.restyle()
        self._changed()

    def height_for(self, width: int) -> int:
        """The height at this width; places what is in the message."""
        if self._height[0] != width:
            self._height = (width, self._place(width))
        return self._height[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._separator.text():
            self._paint_separator(painter)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self._look.px(12)
        if self._is_user:
            painter.setBrush(self._look.colour("bubble"))
            painter.drawRoundedRect(self._frame, radius, radius)
        if self._glow > 0:
            tint = self._look.colour("accent")
            tint.setAlphaF(0.22 * self._glow)
            painter.setBrush(tint)
            painter.drawRoundedRect(self._frame, radius, radius)
        painter.end()

    def _paint_separator(self, painter: QPainter) -> None:
        painter.setPen(QPen(self._look.colour("line"), 1, Qt.PenStyle.DashLine))
        box = self._separator.geometry()
        y, gap = box.center().y(), self._look.px(10)
        painter.drawLine(0, y, box.left() - gap, y)
        painter.drawLine(box.right() + gap, y, self.width(), y)

    def _place(self, width: int) -> int:
        y = 0
        self._separator.setVisible(bool(self._separator.text()))
        if self._separator.text():
            size = self._separator.sizeHint()
            self._separator.setGeometry((width - size.width()) // 2, 0, size.width(), size.height())
            y = size.height() + self._look.px(18)
        return self._place_user(width, y) if self._is_user else self._place_reply(width, y)

    def _place_user(self, width: int, y: int) -> int:
        look = self._look
        side, top = look.px(14), look.px(9)
        for label in (self._who, self._when, self._waiting, self._kept, self._copy):
            label.hide()
        inner = self.body.natural_width(int(width * BUBBLE_SHARE) - 2 * side)
        if self.body.rest_chars:
            inner = max(inner, self._more.sizeHint().width())
        height = self.body.height_for(inner)
        left = width - inner - 2 * side
        self.body.setGeometry(left + side, y + top, inner, height)
        end = self._place_more(left + side, y + top + height) + top
        self._frame = QRectF(left, y, inner + 2 * side, end - y)
        return end

    def _place_reply(self, width: int, y: int) -> int:
        look, top = self._look, y
        who, when = self._who.sizeHint(), self._when.sizeHint()
        self._who.setGeometry(0, y, who.width(), who.height())
        self._when.setGeometry(who.width() + look.px(8), y, when.width(), who.height())
        y += who.height() + look.px(3)
        running = self.message.status in _RUNNING
        waiting = running and not self.body.text.strip()
        y = self._place_label(self._waiting, width, y, 0, show=waiting)
        column = int(width * 0.94)
        height = self.body.height_for(column) if not waiting else 0
        self.body.setGeometry(0, y, column, height)
        y = self._place_more(0, y + height)
        y = self._place_label(self._note, column, y, look.px(6), show=bool(self._note.text()))
        y = self._place_label(self._kept, width, y, look.px(6), show=bool(self._kept.text()))
        can_copy = not running and bool(self.body.text)
        self._copy.setVisible(can_copy)
        if can_copy:
            size = self._copy.sizeHint()
            y += look.px(3)
            self._copy.setGeometry(0, y, size.width(), size.height())
            y += size.height()
        self._frame = QRectF(-look.px(10), top - look.px(6), width + look.px(20), y - top + look.px(12))
        return y

    def _place_label(self, label: QWidget, width: int, y: int, gap: int, *, show: bool) -> int:
        label.setVisible(show)
        if not show:
            return y
        height = label.heightForWidth(width) if label.hasHeightForWidth() else label.sizeHint().height()
        label.setGeometry(0, y + gap, width, height)
        return y + gap + height

    def _place_more(self, x: int, y: int) -> int:
        rest = self.body.rest_chars
        self._more.setVisible(bool(rest))
        if not rest:
            return y
        self._more.setText(f"Show more ({rest:,} characters left)")
        size = self._more.sizeHint()
        self._more.setGeometry(x, y + self._look.px(4), size.width(), size.height())
        return y + self._look.px(4) + size.height()

    def _changed(self) -> None:
        self._height = (-1, 0)
        self.height_changed.emit()

    def _end_glow(self) -> None:
        self._set_glow(0.0)

    def _get_glow(self) -> float:
        return self._glow

    def _set_glow(self, value: float) -> None:
        self._glow = value
        self.update()

    glow = QtProperty(float, _get_glow, _set_glow)
