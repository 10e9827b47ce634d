"""The rows of Working Memory as a Qt model. A change moves as few rows as it can, so that what is selected,
edited or looked at stays where it is."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.rendering.memory_rows import Row, RowKind

_Index = QModelIndex | QPersistentModelIndex


class MemoryRows(QAbstractListModel):
    """Holds `Row`s in order."""

    ROW = Qt.ItemDataRole.UserRole + 1

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []

    def rows(self) -> Sequence[Row]:
        """All rows, in order."""
        return tuple(self._rows)

    def row_at(self, index: _Index) -> Row | None:
        """The row of an index; None for an invalid one."""
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def find(self, key: str) -> QModelIndex:
        """The index of the row with a key; invalid if there is none."""
        for i, row in enumerate(self._rows):
            if row.key == key:
                return self.index(i)
        return QModelIndex()

    def set_rows(self, rows: Sequence[Row]) -> set[str]:
        """Show these rows; returns the keys of those that were not there."""
        old_keys, new_keys = [row.key for row in self._rows], [row.key for row in rows]
        known = set(old_keys)
        if old_keys != new_keys:
            self._move_to(rows, old_keys, new_keys)
        changed = [i for i, (old, new) in enumerate(zip(self._rows, rows, strict=True)) if old != new]
        self._rows = list(rows)
        for first, last in _runs(changed):
            self.dataChanged.emit(self.index(first), self.index(last))
        return set(new_keys) - known

    def _move_to(self, rows: Sequence[Row], old_keys: list[str], new_keys: list[str]) -> None:
        """Take rows out and put rows in until the keys are those of `rows`."""
        steps = SequenceMatcher(a=old_keys, b=new_keys, autojunk=False).get_opcodes()
        for tag, i1, i2, j1, j2 in reversed(steps):
            if tag in ("delete", "replace"):
                self.beginRemoveRows(QModelIndex(), i1, i2 - 1)
                del self._rows[i1:i2]
                self.endRemoveRows()
            if tag in ("insert", "replace"):
                self.beginInsertRows(QModelIndex(), i1, i1 + j2 - j1 - 1)
                self._rows[i1:i1] = rows[j1:j2]
                self.endInsertRows()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsEditable if row.kind in (RowKind.LINE, RowKind.DRAFT) else flags

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row_at(index)
        if row is None:
            return None
        if role == self.ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.shown
        if role == Qt.ItemDataRole.EditRole:
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.tip or None
        return None


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring places as (first, last)."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs
