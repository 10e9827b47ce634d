"""The conversation list: brand, New conversation, conversations by day; rename in place, pin, delete."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.models.conversations import ConversationModel
from app.rendering.display import one_line
from app.theme import Look
from app.views.base import Mark, make_button, make_label
from core.model import Conversation, SessionId

_Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Draws a heading, or a conversation's title over one line of preview."""

    renamed = Signal(object, str)

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        heading = index.data(ConversationModel.HEADING) is not None
        return QSize(10, self._look.px(34 if heading else 56))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        heading = index.data(ConversationModel.HEADING)
        if heading is not None:
            self._paint_heading(painter, option.rect, str(heading))
        else:
            conversation = index.data(ConversationModel.CONVERSATION)
            if isinstance(conversation, Conversation):
                self._paint_row(painter, option, index, conversation)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setMaxLength(200)
        editor.setAccessibleName("New title")
        return editor

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: object, index: _Index) -> None:
        conversation = index.data(ConversationModel.CONVERSATION)
        if not isinstance(editor, QLineEdit) or not isinstance(conversation, Conversation):
            return
        if editor.text().strip() and editor.text() != conversation.title:
            self.renamed.emit(conversation.id, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        rect, px = self._card(option.rect), self._look.px
        editor.setGeometry(rect.adjusted(px(2), px(3), -px(2), -px(19)))

    def _card(self, rect: QRect) -> QRect:
        return rect.adjusted(self._look.px(12), self._look.px(1), -self._look.px(12), -self._look.px(1))

    def _paint_heading(self, painter: QPainter, rect: QRect, text: str) -> None:
        font = self._look.font(11, 600)
        font.setLetterSpacing(font.SpacingType.PercentageSpacing, 104)
        painter.setFont(font)
        painter.setPen(self._look.colour("muted"))
        inner = rect.adjusted(self._look.px(20), 0, -self._look.px(12), -self._look.px(4))
        painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, text.upper())

    def _paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, index: _Index, conversation: Conversation
    ) -> None:
        look, card = self._look, self._card(option.rect)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.colour("selected" if selected else "hover"))
            painter.drawRoundedRect(card, look.px(8), look.px(8))
        if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
            painter.setPen(QPen(look.colour("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(card.adjusted(1, 1, -1, -1), look.px(8), look.px(8))
        inner = card.adjusted(look.px(8), look.px(6), -look.px(8), -look.px(6))
        title = str(index.data(Qt.ItemDataRole.DisplayRole))
        colour = "text" if conversation.title else "muted"
        room = QRect(inner)
        if mark := "writing…" if conversation.replying else "" if conversation.remember else "temporary":
            room.setWidth(inner.width() - self._draw_mark(painter, inner, mark, accent=conversation.replying))
        self._draw_line(painter, room, title, look.px(1), 14, 500, look.colour(colour))
        self._draw_line(painter, inner, one_line(conversation.preview), look.px(23), 12, 400, look.colour("muted"))

    def _draw_mark(self, painter: QPainter, rect: QRect, text: str, *, accent: bool) -> int:
        """Draw a word at the right of the title's line; returns the width it takes."""
        painter.setFont(self._look.font(11))
        painter.setPen(self._look.colour("accent" if accent else "muted"))
        line = QRect(rect.left(), rect.top() + self._look.px(1), rect.width(), self._look.px(20))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        return painter.fontMetrics().horizontalAdvance(text) + self._look.px(8)

    def _draw_line(
        self, painter: QPainter, rect: QRect, text: str, top: int, size: float, weight: int, colour: QColor
    ) -> None:
        painter.setFont(self._look.font(size, weight))
        painter.setPen(colour)
        metrics = painter.fontMetrics()
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        height = self._look.px(20 if size > 12 else 17)
        line = QRect(rect.left(), rect.top() + top, rect.width(), height)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)


class ConversationList(QListView):
    """The list with its keys: Delete deletes, F2 renames, Enter opens."""

    delete_requested = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Delete):
            self.delete_requested.emit()
        else:
            super().keyPressEvent(event)


class Sidebar(QWidget):
    """Says which conversation the user wants and what to do with it."""

    new_requested = Signal()
    open_requested = Signal(str)
    rename_requested = Signal(str, str)
    pin_requested = Signal(str, bool)
    delete_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._showing = False
        self.model = ConversationModel(self)
        self._brand = QHBoxLayout()
        self._brand.addWidget(Mark(look))
        self._brand.addWidget(make_label("Keepsake", "brand"), 1)
        self.new_button = make_button("New conversation", "primary", self.new_requested.emit, tip="Ctrl+N")
        self.list = ConversationList()
        self.list.setAccessibleName("Conversations")
        self.list.setModel(self.model)
        self.list.setMouseTracking(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setLayoutMode(QListView.LayoutMode.Batched)  # ten thousand rows must not delay the window
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._delegate = RowDelegate(look, self.list)
        self.list.setItemDelegate(self._delegate)
        self._top = QVBoxLayout()
        self._top.addLayout(self._brand)
        self._top.addWidget(self.new_button)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._top)
        column.addWidget(self.list, 1)
        self.list.customContextMenuRequested.connect(self._open_menu)
        self.list.delete_requested.connect(self.delete_current)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self._delegate.renamed.connect(self._on_renamed)
        look.changed.connect(self._on_look)
        self._on_look()

    def show_conversations(self, conversations: Sequence[Conversation], selected: SessionId | None, now: float) -> None:
        """Show the list with one conversation selected."""
        self._showing = True
        self.model.set_conversations(conversations, now)
        self._showing = False
        self.select(selected)

    def select(self, session_id: SessionId | None) -> None:
        """Select a conversation without asking for it."""
        index = self.model.index_of(session_id)
        self._showing = True
        if index.isValid():
            self.list.setCurrentIndex(index)
        else:
            self.list.clearSelection()
        self._showing = False

    def current(self) -> Conversation | None:
        """The selected conversation."""
        return self.model.conversation_at(self.list.currentIndex())

    def rename_current(self) -> None:
        """Edit the title of the selected conversation in place."""
        if self.current() is not None:
            self.list.setFocus()
            self.list.edit(self.list.currentIndex())

    def delete_current(self) -> None:
        """Ask for the selected conversation to be deleted."""
        if (conversation := self.current()) is not None:
            self.delete_requested.emit(conversation.id)

    def pin_current(self) -> None:
        """Ask for the selected conversation to be pinned, or no longer."""
        if (conversation := self.current()) is not None:
            self.pin_requested.emit(conversation.id, not conversation.pinned)

    def _on_current(self, index: QModelIndex) -> None:
        conversation = self.model.conversation_at(index)
        if conversation is not None and not self._showing:
            self.open_requested.emit(conversation.id)

    def _on_renamed(self, session_id: SessionId, title: str) -> None:
        self.rename_requested.emit(session_id, title)

    def _open_menu(self, at: QPoint) -> None:
        index = self.list.indexAt(at)
        conversation = self.model.conversation_at(index)
        if conversation is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = QAction("Rename", menu)
        rename.triggered.connect(lambda: self.list.edit(index))
        pin = QAction("Unpin" if conversation.pinned else "Pin to the top", menu)
        pin.triggered.connect(lambda: self.pin_requested.emit(conversation.id, not conversation.pinned))
        delete = QAction("Delete", menu)
        delete.triggered.connect(lambda: self.delete_requested.emit(conversation.id))
        menu.addActions([rename, pin])
        menu.addSeparator()
        menu.addAction(delete)
        menu.popup(self.list.viewport().mapToGlobal(at))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.list.scheduleDelayedItemsLayout()

    def _on_look(self) -> None:
        px = self._look.px
        self._brand.setContentsMargins(px(8), px(4), px(8), px(4))
        self._brand.setSpacing(px(8))
        self._top.setContentsMargins(px(12), px(12), px(12), 0)
        self._top.setSpacing(px(8))
        self._column.setSpacing(px(2))
        self.list.scheduleDelayedItemsLayout()
