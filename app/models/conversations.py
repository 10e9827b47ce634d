"""The conversation list as a Qt model: conversations under headings by day."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.rendering.display import one_line
from app.rendering.words import GROUPS, group_of
from core.model import Conversation, SessionId

UNTITLED = "New conversation"
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Heading:
    """A row that only separates."""

    text: str


class ConversationModel(QAbstractListModel):
    """Rows are headings and conversations; headings cannot be selected."""

    CONVERSATION = Qt.ItemDataRole.UserRole + 1
    HEADING = Qt.ItemDataRole.UserRole + 2

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Heading | Conversation] = []

    def set_conversations(self, conversations: Sequence[Conversation], now: float) -> None:
        """Show these, grouped by the day of their last message; keeps the order within a group."""
        rows: list[Heading | Conversation] = []
        groups: dict[str, list[Conversation]] = {name: [] for name in GROUPS}
        for conversation in conversations:
            groups[group_of(conversation.updated_at, conversation.pinned, now)].append(conversation)
        for name, members in groups.items():
            rows += [Heading(name), *members] if members else []
        if [_key(row) for row in rows] == [_key(row) for row in self._rows]:
            changed = [i for i, (new, old) in enumerate(zip(rows, self._rows, strict=True)) if new != old]
            self._rows = rows
            for i in changed:
                self.dataChanged.emit(self.index(i), self.index(i))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def index_of(self, session_id: SessionId | None) -> QModelIndex:
        """The row of a conversation; invalid if it is not listed."""
        for i, row in enumerate(self._rows):
            if isinstance(row, Conversation) and row.id == session_id:
                return self.index(i)
        return QModelIndex()

    def conversation_at(self, index: _Index) -> Conversation | None:
        """The conversation of a row; None for a heading."""
        row = self._rows[index.row()] if index.isValid() else None
        return row if isinstance(row, Conversation) else None

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if self.conversation_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, Heading):
            return row.text if role in (Qt.ItemDataRole.DisplayRole, self.HEADING) else None
        if role == self.CONVERSATION:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return one_line(row.title) or ("" if role == Qt.ItemDataRole.EditRole else UNTITLED)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            pinned = "pinned, " if row.pinned else ""
            return f"{pinned}{one_line(row.title) or UNTITLED}. {one_line(row.preview)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return one_line(row.title) or None
        return None


def _key(row: Heading | Conversation) -> str:
    return row.id if isinstance(row, Conversation) else f"\0{row.text}"
