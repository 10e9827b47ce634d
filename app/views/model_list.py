"""The list of the Models page: a heading a group; a model's name over what it is, and what it is used for."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.model_list import ModelListModel
from app.rendering.model_rows import ModelAct, ModelRow, act_words
from app.theme import Look

_Index = QModelIndex | QPersistentModelIndex


class ModelDelegate(QStyledItemDelegate):
    """Draws a heading, or a model."""

    def __init__(self, look: Look, parent: QListView) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        heading = index.data(ModelListModel.HEADING) is not None
        return QSize(10, self._look.px(34 if heading else 52))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        heading, row = index.data(ModelListModel.HEADING), index.data(ModelListModel.ROW)
        if heading is not None:
            font = self._look.font(11, 600)
            font.setLetterSpacing(font.SpacingType.PercentageSpacing, 104)
            painter.setFont(font)
            painter.setPen(self._look.colour("muted"))
            inner = option.rect.adjusted(self._look.px(20), 0, -self._look.px(12), -self._look.px(4))
            painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, str(heading).upper())
        elif isinstance(row, ModelRow):
            self._paint_row(painter, option, row)
        painter.restore()

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, row: ModelRow) -> None:
        look, px = self._look, self._look.px
        card = option.rect.adjusted(px(12), px(1), -px(12), -px(1))
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.colour("selected" if selected else "hover"))
            painter.drawRoundedRect(card, px(8), px(8))
        if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
            painter.setPen(QPen(look.colour("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(card.adjusted(1, 1, -1, -1), px(8), px(8))
        inner = card.adjusted(px(8), px(5), -px(8), -px(5))
        room = inner.width() - self._draw(painter, inner, row.mark, 11, "accent", right=True, top=0) - px(8)
        title = QRect(inner.left(), inner.top(), max(px(60), room), inner.height())
        self._draw(painter, title, row.title, 14, "text", weight=500, top=0)
        wrong = bool(row.problem or row.error)
        line = row.work.words if row.work else row.error or row.line
        self._draw(painter, inner, line, 12, "removed" if wrong and not row.work else "muted", top=22)

    def _draw(
        self, painter: QPainter, rect: QRect, text: str, size: float, colour: str, *, top: int, weight: int = 400,
        right: bool = False,
    ) -> int:  # fmt: skip
        """Draw one line; returns its width."""
        painter.setFont(self._look.font(size, weight))
        painter.setPen(self._look.colour(colour))
        metrics = painter.fontMetrics()
        elided = metrics.elidedText(" ".join(text.split()), Qt.TextElideMode.ElideRight, rect.width())
        line = QRect(rect.left(), rect.top() + self._look.px(top), rect.width(), self._look.px(20))
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, elided)
        return metrics.horizontalAdvance(elided)


class ModelList(QListView):
    """The list with its keys: Enter does the first command, Delete removes; the rest is in the menu and the buttons."""

    acted = Signal(str, ModelAct)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rows = ModelListModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(ModelDelegate(look, self))
        self.setAccessibleName("Models")
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        look.changed.connect(self.scheduleDelayedItemsLayout)

    def current(self) -> ModelRow | None:
        """The selected model."""
        return self.rows.row_at(self.currentIndex())

    def select(self, key: str) -> bool:
        """Select a model; False if it is not listed."""
        index = self.rows.index_of(key)
        if index.isValid():
            self.setCurrentIndex(index)
        return index.isValid()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current()
        if row is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if row.acts:
                self.acted.emit(row.key, row.acts[0])
        elif row is not None and event.matches(QKeySequence.StandardKey.Delete):
            if ModelAct.REMOVE in row.acts:
                self.acted.emit(row.key, ModelAct.REMOVE)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.scheduleDelayedItemsLayout()

    def _open_menu(self, at: QPoint) -> None:
        row = self.rows.row_at(self.indexAt(at)) or self.current()
        if row is None or not row.acts:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for act in row.acts:
            entry = QAction(act_words(act, row), menu)
            entry.triggered.connect(lambda _checked=False, act=act: self.acted.emit(row.key, act))
            menu.addAction(entry)
        menu.popup(self.viewport().mapToGlobal(at))
