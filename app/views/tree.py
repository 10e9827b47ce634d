"""The memory tree: all that is kept, by conversation, month, year, or as it was summed up level by level."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.rendering.display import clean, one_line
from app.rendering.words_segments import tree_detail, tree_note
from app.theme import Look
from app.views.base import Scroll, make_button, make_label
from core.model import TreeItem, TreeView

VIEWS = (
    (TreeView.CONVERSATION, "Conversation"),
    (TreeView.MONTH, "Month"),
    (TreeView.YEAR, "Year"),
    (TreeView.LEVEL, "Summaries"),
)
SHOWN_CHARACTERS = 6_000  # of one part, in the reading pane
_ITEM = Qt.ItemDataRole.UserRole


class TreePane(QWidget):
    """A switch of views, the tree, and the text of what is chosen in it."""

    view_chosen = Signal(str)
    branch_opened = Signal(str)
    turn_requested = Signal(str, int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._now = 0.0
        self._chosen: TreeItem | None = None
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout()
        for i, (_, name) in enumerate(VIEWS):
            button = make_button(name, "segment", name=f"Tree by {name.lower()}" if i < 3 else "Tree of summaries")
            button.setCheckable(True)
            button.setChecked(i == 0)
            self._group.addButton(button, i)
            self._row.addWidget(button)
        self._row.addStretch(1)
        self._group.idClicked.connect(lambda at: self.view_chosen.emit(VIEWS[at][0]))
        self._empty = make_label(
            "Nothing yet. What was said goes into the tree when a segment closes; ten parts are summed up together.",
            "lead",
            wrap=True,
        )
        self._tree = self._make_tree()
        self._title = make_label("", "line-title", wrap=True)
        self._note = make_label("", "muted", wrap=True)
        self._text = make_label("", "line", wrap=True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._turn = make_button("", "jump", self._on_turn, tip="Go there in its conversation")
        self._reader = Scroll(look)
        self._reader.setAccessibleName("What was said")
        for widget in (self._title, self._note, self._text):
            self._reader.column.addWidget(widget)
        foot = QHBoxLayout()  # a button of fixed width would be the width of the column
        foot.addWidget(self._turn)
        foot.addStretch(1)
        self._reader.column.addLayout(foot)
        self._halves = QSplitter(Qt.Orientation.Vertical)
        self._halves.setHandleWidth(1)
        self._halves.setChildrenCollapsible(False)
        self._halves.addWidget(self._tree)
        self._halves.addWidget(self._reader)
        self._halves.setStretchFactor(0, 3)
        self._halves.setStretchFactor(1, 2)
        self._reader.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._row)
        column.addWidget(self._empty)
        column.addWidget(self._halves, 1)
        look.changed.connect(self._on_look)
        self._on_look()

    def _make_tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setAccessibleName("Memory tree")
        tree.setColumnCount(2)
        tree.setHeaderHidden(True)
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setUniformRowHeights(True)
        tree.itemExpanded.connect(self._on_expanded)
        tree.currentItemChanged.connect(self._on_current)
        return tree

    def show_top(self, items: Sequence[TreeItem], now: float) -> None:
        """Show the top of a view; branches that were open stay open."""
        self._now = now
        opened = {ref for row in self._rows() if row.isExpanded() and (ref := _item(row).ref)}
        self._tree.clear()
        self._empty.setVisible(not items)
        self._halves.setVisible(bool(items))
        if not items:
            self._show_chosen(None)
        for item in items:
            row = self._make_row(item)
            self._tree.addTopLevelItem(row)
            if item.ref in opened:
                row.setExpanded(True)

    def show_below(self, ref: str, items: Sequence[TreeItem]) -> None:
        """Show what lies below a branch."""
        for row in self._rows():
            if _item(row).ref == ref:
                row.takeChildren()
                row.addChildren([self._make_row(item) for item in items])

    def _make_row(self, item: TreeItem) -> QTreeWidgetItem:
        row = QTreeWidgetItem([one_line(item.title, 120), tree_note(item, self._now)])
        row.setData(0, _ITEM, item)
        row.setToolTip(0, one_line(item.title, 300))
        row.setForeground(1, self._look.colour("muted"))
        if item.ref:
            row.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        return row

    def _rows(self) -> list[QTreeWidgetItem]:
        """Every row, those of closed branches too."""
        found = [self._tree.topLevelItem(i) for i in range(self._tree.topLevelItemCount())]
        rows: list[QTreeWidgetItem] = []
        while found:
            row = found.pop()
            if row is not None:
                rows.append(row)
                found += [row.child(i) for i in range(row.childCount())]
        return rows

    def _on_expanded(self, row: QTreeWidgetItem) -> None:
        if not row.childCount():
            self.branch_opened.emit(_item(row).ref)

    def _on_current(self, row: QTreeWidgetItem | None) -> None:
        self._show_chosen(None if row is None else _item(row))

    def _show_chosen(self, item: TreeItem | None) -> None:
        self._chosen = item if item is not None and item.text else None
        was_shown = self._reader.isVisible()
        self._reader.setVisible(self._chosen is not None)
        if self._chosen is not None and not was_shown:
            height = self._halves.height()
            self._halves.setSizes([height * 3 // 5, height * 2 // 5])
        if self._chosen is None:
            return
        self._title.setText(one_line(self._chosen.title, 300))
        self._note.setText(tree_detail(self._chosen, self._now))
        text = clean(self._chosen.text)
        self._text.setText(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS].rstrip() + " …")
        turns = self._chosen.turns
        self._turn.setVisible(bool(turns))
        if turns:
            self._turn.setText("Go to where it was said")
        self._reader.verticalScrollBar().setValue(0)
        QTimer.singleShot(0, self._reader.fit)  # once the reader has its size

    def _on_turn(self) -> None:
        if self._chosen is not None and self._chosen.turns:
            self.turn_requested.emit(self._chosen.session_id or "", self._chosen.turns[0])

    def _on_look(self) -> None:
        px = self._look.px
        self._row.setContentsMargins(px(12), px(4), px(12), px(4))
        self._row.setSpacing(px(2))
        self._empty.setContentsMargins(px(12), px(6), px(12), px(6))
        self._tree.setIndentation(px(16))
        for row in self._rows():
            row.setForeground(1, self._look.colour("muted"))


def _item(row: QTreeWidgetItem) -> TreeItem:
    item: TreeItem = row.data(0, _ITEM)
    return item
