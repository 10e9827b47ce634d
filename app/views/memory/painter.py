"""Paints the rows of memory as cards, and gives a row its editor."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.memory import MemoryRows
from app.rendering.memory_rows import Row, RowKind
from app.theme import Look
from app.views.memory.editor import LineEditor
from app.views.memory.layout import FOLD_PLACE, PAD, SIGN_W, SIGN_X, Laid, RowLayouts

_Index = QModelIndex | QPersistentModelIndex
_TINTS = {"added": "added_soft", "removed": "removed_soft", "restored": "warning_soft", "warning": "warning_soft"}
_SIGN_COLOURS = {"added": "added", "removed": "removed", "restored": "warning", "warning": "warning"}
_FAR = 40  # how far a card's edges are drawn beyond a row that is in its middle


class RowPainter(QStyledItemDelegate):
    """Draws a row; the list tells it what is hovered and what glows."""

    edited = Signal(QPersistentModelIndex, str)
    cancelled = Signal(QPersistentModelIndex)

    def __init__(self, look: Look, rows: MemoryRows, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._rows = rows
        self.layouts = RowLayouts(look)
        self.hovered: tuple[str, str] = ("", "")  # row key and target of the zone under the pointer
        self.glowing: set[str] = set()
        self.glow = 0.0
        self.shows_focus = False

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row = self._rows.row_at(index)
        return QSize(10, self.layouts.height(row, self.width())) if row is not None else QSize()

    def width(self) -> int:
        """The width of the rows: the view's, for a scroll bar stands in the margin beside the cards."""
        view = self.parent()
        return max(120, view.width()) if isinstance(view, QWidget) else 400

    def laid_at(self, row: Row) -> Laid:
        """Where things stand in a row at the present width."""
        return self.layouts.get(row, self.width())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = self._rows.row_at(index)
        if row is None:
            return
        laid = self.laid_at(row)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(option.rect)
        painter.translate(option.rect.topLeft())
        self._paint_card(painter, row, laid)
        self._paint_frame(painter, row, laid, option)
        if row.kind is RowKind.HEAD:
            self._paint_head(painter, row, laid)
        else:
            self._paint_line(painter, row, laid)
        self._paint_zones(painter, row, laid)
        painter.restore()

    def _paint_card(self, painter: QPainter, row: Row, laid: Laid) -> None:
        """Draw the part of the section's card that lies in this row."""
        if row.kind is RowKind.HEAD and row.tone == "quiet":
            return
        top = 0 if row.kind is RowKind.HEAD else -_FAR
        bottom = -1 if row.last else _FAR
        radius = self._look.px(10)
        painter.setPen(QPen(self._look.colour("line"), 1))
        painter.setBrush(self._look.colour("card"))
        painter.drawRoundedRect(QRectF(laid.card.adjusted(0, top, -1, bottom)).translated(0.5, 0.5), radius, radius)

    def _paint_frame(self, painter: QPainter, row: Row, laid: Laid, option: QStyleOptionViewItem) -> None:
        look, radius = self._look, self._look.px(6)
        frame = QRectF(laid.frame)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        fill: QColor | None = look.colour(_TINTS[row.tone]) if row.tone in _TINTS else None
        if fill is None and selected:
            fill = look.colour("selected" if self.shows_focus else "hover")
        if fill is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRoundedRect(frame, radius, radius)
        if row.key in self.glowing and self.glow > 0:
            tint = look.colour("accent")
            tint.setAlphaF(0.30 * self.glow)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tint)
            painter.drawRoundedRect(frame, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = frame.adjusted(0.75, 0.75, -0.75, -0.75)
        if row.tone == "pending":
            painter.setPen(QPen(look.colour("handle"), 1, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(inner, radius, radius)
        if selected and self.shows_focus:
            painter.setPen(QPen(look.colour("accent"), 1.5))
            painter.drawRoundedRect(inner, radius, radius)

    def _paint_head(self, painter: QPainter, row: Row, laid: Laid) -> None:
        quiet = row.tone == "quiet"
        painter.setFont(self.layouts.font(12, 400 if quiet else 600))
        painter.setPen(self._look.colour("muted" if quiet else "text"))
        painter.drawText(laid.note, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, row.shown)
        name = painter.fontMetrics().horizontalAdvance(row.shown) + self._look.px(10)
        painter.setFont(self.layouts.font(12))
        painter.setPen(self._look.colour("muted"))
        room = laid.note.adjusted(name, 0, 0, 0)
        note = painter.fontMetrics().elidedText(row.note, Qt.TextElideMode.ElideRight, max(0, room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, note)

    def _paint_line(self, painter: QPainter, row: Row, laid: Laid) -> None:
        look = self._look
        if row.sign:
            painter.setFont(self.layouts.font(11, 600 if row.tone in _SIGN_COLOURS else 400))
            painter.setPen(look.colour(_SIGN_COLOURS.get(row.tone, "dot")))
            place = QRect(look.px(12 + PAD + SIGN_X), look.px(3), look.px(SIGN_W), look.px(18))
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, row.sign)
        if laid.text is not None:
            if row.kind is RowKind.FOLD:
                painter.setPen(look.colour("muted"))
            laid.text.draw(painter, laid.text_at)
        if row.suffix:
            painter.setFont(self.layouts.font(11))
            painter.setPen(look.colour("muted"))
            painter.drawText(laid.suffix, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, row.suffix)
        if row.note:
            painter.setFont(self.layouts.font(11))
            painter.setPen(look.colour("muted"))
            painter.drawText(laid.note, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop, row.note)

    def _paint_zones(self, painter: QPainter, row: Row, laid: Laid) -> None:
        for zone in laid.zones:
            if zone.target == FOLD_PLACE:
                continue
            hovered = self.hovered == (row.key, zone.target)
            font = QFont(self.layouts.font(12 if row.kind is RowKind.HEAD else 11))
            font.setUnderline(hovered)
            font.setStrikeOut(row.tone == "removed")
            painter.setFont(font)
            painter.setPen(self._look.colour("muted" if zone.muted and not hovered else "accent"))
            painter.drawText(zone.rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, zone.label)

    # -- editing -----------------------------------------------------------------------------------

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        row = self._rows.row_at(index)
        assert row is not None
        editor = LineEditor(self._look, row, parent)
        place = QPersistentModelIndex(index)
        editor.saved.connect(lambda text: self._end(editor, place, text))
        editor.cancelled.connect(lambda: self._end(editor, place, None))
        editor.grown.connect(lambda: self._place(editor, place))
        return editor

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        """Nothing: the editor took the row's text when it was made, and what is typed is the user's."""

    def setModelData(self, editor: QWidget, model: object, index: _Index) -> None:
        """Nothing: the model follows the store."""

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        if isinstance(editor, LineEditor):
            editor.place_in(option.rect, self.width())

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Keys and focus are the editor's own matter; Qt would close it on both."""
        return False

    def _place(self, editor: LineEditor, place: QPersistentModelIndex) -> None:
        view = self.parent()
        if place.isValid() and isinstance(view, QWidget) and hasattr(view, "visualRect"):
            editor.place_in(view.visualRect(place), self.width())

    def _end(self, editor: LineEditor, place: QPersistentModelIndex, text: str | None) -> None:
        self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.NoHint)
        if text is None:
            self.cancelled.emit(place)
        else:
            self.edited.emit(place, text)
