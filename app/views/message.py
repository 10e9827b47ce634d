"""One message of the chat: the user's bubble, or a reply with its time, state and actions.

Lays itself out by hand: `height_for` is remembered for a width, so a growing reply costs the messages
above it nothing.
"""

from datetime import datetime

from PySide6.QtCore import Property as QtProperty
from PySide6.QtCore import QPoint, QPropertyAnimation, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QWidget

from app.rendering.display import clean
from app.rendering.words import clock_time
from app.theme import Look
from app.views.base import make_button, make_label, set_property
from app.views.blocks import BlocksView
from core.model import Message, MessageStatus, Role

BUBBLE_SHARE = 0.78  # of the column's width, at most
PAD_X, PAD_Y = 10, 6  # around everything, design pixels: room for the glow
_NOTES = {
    MessageStatus.STOPPED: "Stopped by you; kept as far as it had come.",
    MessageStatus.INTERRUPTED: "Reply cut off when Keepsake closed; kept as far as it had come.",
}
_NOTES_WITHOUT_TEXT = {
    MessageStatus.STOPPED: "Stopped by you before the reply began.",
    MessageStatus.INTERRUPTED: "Keepsake closed before the reply began; reply cut off.",
}
_RUNNING = (MessageStatus.WAITING, MessageStatus.STREAMING)


class MessageView(QWidget):
    """Shows a message and takes the pieces of a running reply."""

    copy_requested = Signal(str)
    link_activated = Signal(QUrl)
    remember_requested = Signal(Message)
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
        self._menu: QMenu | None = None
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
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
        self._note.setText(outcome(message))
        set_property(self._note, "kind", "error" if message.status is MessageStatus.FAILED else "muted")
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

    def make_menu(self) -> QMenu:
        """What can be done with the whole message."""
        menu = QMenu(self)
        remember = menu.addAction("Remember this")
        remember.setEnabled(bool(self.message.text.strip()) and self.message.status not in _RUNNING)
        remember.triggered.connect(lambda _checked=False: self.remember_requested.emit(self.message))
        menu.addAction("Copy the message").triggered.connect(lambda _checked=False: self.copy_all())
        return menu

    def _open_menu(self, at: QPoint) -> None:
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = self.make_menu()
        self._menu.popup(self.mapToGlobal(at))

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
        side = self._look.px(PAD_X)
        painter.drawLine(side, y, box.left() - gap, y)
        painter.drawLine(box.right() + gap, y, self.width() - side, y)

    def _place(self, width: int) -> int:
        x, y = self._look.px(PAD_X), self._look.px(PAD_Y)
        inner = width - 2 * x
        self._separator.setVisible(bool(self._separator.text()))
        if self._separator.text():
            size = self._separator.sizeHint()
            self._separator.setGeometry((width - size.width()) // 2, y, size.width(), size.height())
            y += size.height() + self._look.px(18)
        end = self._place_user(x, inner, y) if self._is_user else self._place_reply(x, inner, y)
        return end + self._look.px(PAD_Y)

    def _place_user(self, x: int, width: int, y: int) -> int:
        look = self._look
        side, top = look.px(14), look.px(9)
        for label in (self._who, self._when, self._waiting, self._kept, self._copy):
            label.hide()
        inner = self.body.natural_width(int(width * BUBBLE_SHARE) - 2 * side)
        if self.body.rest_chars:
            inner = max(inner, self._more.sizeHint().width())
        height = self.body.height_for(inner)
        left = x + width - inner - 2 * side
        self.body.setGeometry(left + side, y + top, inner, height)
        end = self._place_more(left + side, y + top + height) + top
        self._frame = QRectF(left, y, inner + 2 * side, end - y)
        note = min(width, max(inner + 2 * side, self._note.sizeHint().width()))
        return self._place_label(self._note, x + width - note, note, end, look.px(4), show=bool(self._note.text()))

    def _place_reply(self, x: int, width: int, y: int) -> int:
        look, top = self._look, y
        who, when = self._who.sizeHint(), self._when.sizeHint()
        self._who.setGeometry(x, y, who.width(), who.height())
        self._when.setGeometry(x + who.width() + look.px(8), y, when.width(), who.height())
        y += who.height() + look.px(3)
        running = self.message.status in _RUNNING
        waiting = running and not self.body.text.strip()
        y = self._place_label(self._waiting, x, width, y, show=waiting)
        column = int(width * 0.94)
        height = self.body.height_for(column) if not waiting else 0
        self.body.setGeometry(x, y, column, height)
        y = self._place_more(x, y + height)
        y = self._place_label(self._note, x, column, y, look.px(6), show=bool(self._note.text()))
        y = self._place_label(self._kept, x, width, y, look.px(6), show=bool(self._kept.text()))
        can_copy = not running and bool(self.body.text)
        self._copy.setVisible(can_copy)
        if can_copy:
            size = self._copy.sizeHint()
            y += look.px(3)
            self._copy.setGeometry(x, y, size.width(), size.height())
            y += size.height()
        glow_y = look.px(PAD_Y)
        self._frame = QRectF(0, top - glow_y, width + 2 * x, y - top + 2 * glow_y)
        return y

    def _place_label(self, label: QWidget, x: int, width: int, y: int, gap: int = 0, *, show: bool) -> int:
        label.setVisible(show)
        if not show:
            return y
        height = label.heightForWidth(width) if label.hasHeightForWidth() else label.sizeHint().height()
        label.setGeometry(x, y + gap, width, height)
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


def outcome(message: Message) -> str:
    """What became of a reply that did not simply end, what of it is kept, and what was done on its way."""
    notes = _NOTES if message.text.strip() else _NOTES_WITHOUT_TEXT
    note, error = notes.get(message.status, ""), clean(message.error or "")
    if message.status is MessageStatus.FAILED and "kept" not in error:
        note = (
            "The reply ended early; it is kept as far as it had come."
            if message.text.strip()
            else "No reply came; your message is kept."
        )
    return " ".join(part for part in (note, error, clean(message.note)) if part)
