"""A check box that is drawn in the theme's colours: the style's own outline is lost on a dark card."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QCheckBox

from app.theme import Look

BOX, GAP = 16, 10  # design pixels
TICK = ((0.24, 0.52), (0.43, 0.70), (0.77, 0.32))  # shares of the box


class Switch(QCheckBox):
    """On or off, with its name beside it."""

    def __init__(self, look: Look, text: str) -> None:
        super().__init__(text)
        self._look = look
        self.setFont(look.font(14))

    def sizeHint(self) -> QSize:
        px, metrics = self._look.px, self.fontMetrics()
        width = px(BOX + GAP) + metrics.horizontalAdvance(self.text()) + px(6)
        return QSize(width, max(px(BOX), metrics.height()) + px(6))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(BOX + GAP + 40), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        look, side = self._look, self._look.px(BOX)
        box = QRectF(1, (self.height() - side) / 2, side, side)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on, enabled = self.isChecked(), self.isEnabled()
        edge = look.colour("accent" if enabled and (on or self.hasFocus()) else "dot")
        painter.setPen(QPen(edge, 1.2))
        painter.setBrush(look.colour(("accent" if enabled else "dot") if on else "card"))
        painter.drawRoundedRect(box, look.px(4), look.px(4))
        if on:
            painter.setPen(QPen(look.colour("on_accent"), look.px(2), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            points = [QPointF(box.left() + x * side, box.top() + y * side) for x, y in TICK]
            painter.drawPolyline(QPolygonF(points))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.colour("accent"), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), look.px(5), look.px(5))
        painter.setPen(look.colour("text" if enabled else "muted"))
        room = self.rect().adjusted(look.px(BOX + GAP), 0, -2, 0)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()
