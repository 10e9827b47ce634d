"""The Models page's list as a Qt model: rows under the heading of their group."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.rendering.model_rows import ModelRow

_Index = QModelIndex | QPersistentModelIndex


class ModelListModel(QAbstractListModel):
    """Rows are headings and models; headings cannot be selected."""

    ROW = Qt.ItemDataRole.UserRole + 1
    HEADING = Qt.ItemDataRole.UserRole + 2

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[str | ModelRow] = []

    def set_rows(self, rows: Sequence[ModelRow]) -> bool:
        """Show these under headings; returns whether rows came or went, so that the selection has to be set again."""
        new: list[str | ModelRow] = []
        for row in rows:
            if not new or group_of(new[-1]) != row.group:
                new.append(row.group)
            new.append(row)
        if [_key(row) for row in new] == [_key(row) for row in self._rows]:
            changed = [i for i, (now, before) in enumerate(zip(new, self._rows, strict=True)) if now != before]
            self._rows = new
            for i in changed:
                self.dataChanged.emit(self.index(i), self.index(i))
            return False
        self.beginResetModel()
        self._rows = new
        self.endResetModel()
        return True

    def index_of(self, key: str) -> QModelIndex:
        """The place of a model; invalid if it is not listed."""
        for i, row in enumerate(self._rows):
            if isinstance(row, ModelRow) and row.key == key:
                return self.index(i)
        return QModelIndex()

    def row_at(self, index: _Index) -> ModelRow | None:
        """The model of a row; None for a heading."""
        row = self._rows[index.row()] if index.isValid() else None
        return row if isinstance(row, ModelRow) else None

    def nearest(self, place: int) -> QModelIndex:
        """The model at a place of the list, or the next one below, or the last one above; invalid if there is none."""
        places = [i for i, row in enumerate(self._rows) if isinstance(row, ModelRow)]
        chosen = next((i for i in places if i >= place), places[-1] if places else None)
        return self.index(chosen) if chosen is not None else QModelIndex()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if self.row_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, str):
            return row if role in (Qt.ItemDataRole.DisplayRole, self.HEADING) else None
        match role:
            case self.ROW:
                return row
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return row.spoken
        return None


def group_of(row: str | ModelRow) -> str:
    """The group a row belongs to, a heading to its own."""
    return row if isinstance(row, str) else row.group


def _key(row: str | ModelRow) -> str:
    return f"\0{row}" if isinstance(row, str) else row.key
