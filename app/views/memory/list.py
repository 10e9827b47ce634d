"""The list of memory's rows: pointer, keys, menu, editing in place. Says what the user wants, changes nothing."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    QTimer,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu

from app.models.memory import MemoryRows
from app.rendering.memory_rows import LABELS, Act, LineAction, Row, RowKind
from app.theme import Look
from app.views.memory.editor import LineEditor
from app.views.memory.keys import ACTS, is_command, is_redo
from app.views.memory.layout import FOLD_PLACE, Zone
from app.views.memory.painter import RowPainter
from core.model import Section

_Index = QModelIndex | QPersistentModelIndex
GLOW_MS = 1_000
_GLOWING = (RowKind.LINE, RowKind.WANTED)


class MemoryList(QListView):
    """Shows rows and keeps the place of the reader, the selection and what is being typed."""

    acted = Signal(LineAction)  # what the store is asked for
    turn_requested = Signal(int)
    copy_requested = Signal(str)
    undo_requested = Signal()
    redo_requested = Signal()
    fold_requested = Signal(Section)
    draft_wanted = Signal(Section)
    draft_ended = Signal()
    current_changed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rows = MemoryRows(self)
        self.painter_ = RowPainter(look, self.rows, self)
        self._edited: QPersistentModelIndex | None = None
        self.setModel(self.rows)
        self.setItemDelegate(self.painter_)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("kind", "memory")
        self.setAccessibleName("Working Memory")
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(look.px(24))
        self.painter_.edited.connect(self._on_edited)
        self.painter_.cancelled.connect(self._on_cancelled)
        self.doubleClicked.connect(lambda _index: self.act(Act.EDIT))
        self._glow = QVariantAnimation(self)
        self._glow.setStartValue(1.0)
        self._glow.setEndValue(0.0)
        self._glow.setDuration(GLOW_MS)
        self._glow.valueChanged.connect(self._on_glow)
        self._menu: QMenu | None = None
        self._settle_timer = QTimer(self, interval=0, singleShot=True)
        self._settle_timer.timeout.connect(self._measure_some)

    # -- what is shown -----------------------------------------------------------------------------

    def show_rows(self, rows: Sequence[Row], *, glow: bool) -> None:
        """Show these rows; what was selected, looked at or typed stays. New lines glow once if asked to."""
        self.painter_.layouts.begin_slice()
        anchor = self._anchor()
        current = self.current_row()
        place = self.currentIndex().row()
        came = self.rows.set_rows(rows)
        if current is not None and not self.currentIndex().isValid() and rows:
            found = self.rows.find(current.key)
            self._select(found if found.isValid() else self.rows.index(min(place, len(rows) - 1)))
        self._hold(anchor)
        self._settle_timer.start()
        new = {row.key for row in rows if row.key in came and row.kind in _GLOWING and row.tone != "removed"}
        if glow and new and self._look.motion:
            self.painter_.glowing = new
            self._glow.stop()
            self._glow.start()
        self.current_changed.emit()

    def current_row(self) -> Row | None:
        """The selected row."""
        return self.rows.row_at(self.currentIndex())

    def select_key(self, key: str) -> None:
        """Select a row and bring it on screen."""
        index = self.rows.find(key)
        if index.isValid():
            self._select(index)
            self.scrollTo(index)

    def editing_text(self) -> tuple[Row, str] | None:
        """The row that is being edited and what is typed there."""
        if self._edited is None or not self._edited.isValid():
            return None
        row, editor = self.rows.row_at(self._edited), self._editor()
        return (row, editor.text()) if row is not None and editor is not None else None

    def abandon_edit(self) -> None:
        """The row under the editor goes; its text is taken care of."""
        editor = self._editor()
        if editor is not None:
            editor.abandon()
            self.closeEditor(editor, RowPainter.EndEditHint.NoHint)
        self._edited = None

    def edit_row(self, key: str, text: str | None = None) -> bool:
        """Open the editor over a row, with other text than the row's if given; False if the row is not there."""
        index = self.rows.find(key)
        if not index.isValid():
            return False
        self._select(index)
        self.scrollTo(index)
        self._edited = QPersistentModelIndex(index)
        self.edit(index)
        editor = self._editor()
        if editor is not None and text is not None:
            editor.setPlainText(text)
            editor.selectAll()
        return editor is not None

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self.painter_.layouts.clear()
        self.painter_.layouts.begin_slice()
        self._settle_timer.start()
        self.verticalScrollBar().setSingleStep(self._look.px(24))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    # -- commands ----------------------------------------------------------------------------------

    def act(self, *acts: Act) -> bool:
        """Do the first of these that the selected row allows; False if none."""
        row = self.current_row()
        chosen = next((act for act in acts if row is not None and act in row.acts), None)
        if row is None or chosen is None:
            if Act.ADD in acts and row is not None:
                return self._add_to(row.section)
            return False
        self._perform(chosen, row)
        return True

    def _perform(self, act: Act, row: Row) -> None:
        turns = tuple(turn for turn, _ in row.turns)
        if act is Act.EDIT:
            self.edit_row(row.key)
        elif act is Act.ADD:
            self.draft_wanted.emit(row.section)
        elif act is Act.FOLD:
            self.fold_requested.emit(row.section)
        elif act is Act.MOVE:
            self._offer_sections(row)
        elif act is Act.JUMP and turns:
            self.turn_requested.emit(turns[-1])
        elif act is Act.COPY:
            self.copy_requested.emit(row.text)
        else:
            self.acted.emit(LineAction(act=act, section=row.section, text=row.text, line=row.line, turns=turns))

    def _add_to(self, section: Section) -> bool:
        head = self.rows.row_at(self.rows.find(f"{RowKind.HEAD}:{section}"))
        if head is None or Act.ADD not in head.acts:
            return False
        self.draft_wanted.emit(section)
        return True

    def _offer_sections(self, row: Row) -> None:
        """A menu of where a line may go."""
        menu = QMenu("Move to", self)
        for section in Section:
            if section not in (Section.TITLE, row.section):
                entry = menu.addAction(section.value)
                action = LineAction(act=Act.MOVE, section=row.section, text=row.text, to=section)
                entry.triggered.connect(lambda _checked=False, action=action: self.acted.emit(action))
        self._pop_up(menu, self._below(self.currentIndex()))

    def _pop_up(self, menu: QMenu, at: QPoint) -> None:
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu
        menu.popup(at)
        menu.setActiveAction(menu.actions()[0])

    def make_menu(self, row: Row) -> QMenu:
        """What can be done with a row, each with its key."""
        menu = QMenu(self)
        for act in row.acts:
            label, key = LABELS[act]
            entry = menu.addAction(f"{label}\t{key}")
            entry.triggered.connect(lambda _checked=False, act=act, row=row: self._perform(act, row))
        return menu

    # -- events ------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Keys that mean something here come here, not to the menu bar (F2 renames a conversation there)."""
        asks = event.type() is QEvent.Type.ShortcutOverride
        if asks and isinstance(event, QKeyEvent) and is_command(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
        elif is_redo(event):
            self.redo_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.act(Act.COPY)
        elif event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            super().keyPressEvent(event)
        elif event.key() in ACTS:
            self.act(*ACTS[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._fold_by_key(opens=event.key() == Qt.Key.Key_Right)
        elif event.text() and event.text().isprintable():
            event.ignore()  # no search by typing: letters are commands here
        else:
            super().keyPressEvent(event)

    def _fold_by_key(self, *, opens: bool) -> None:
        row = self.current_row()
        if row is not None and row.kind is RowKind.FOLD and row.shown.startswith("▸") == opens:
            self.fold_requested.emit(row.section)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        row = self.rows.row_at(index)
        if row is None or not row.acts:
            return
        self._select(index)
        self._pop_up(self.make_menu(row), self._below(index) if by_key else event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        row, zone = self.zone_at(event.position().toPoint())
        self._hover(row.key if row and zone else "", zone.target if zone else "")

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover("", "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            row, zone = self.zone_at(event.position().toPoint())
            if row is not None and zone is not None:
                self.click_zone(row, zone)

    def click_zone(self, row: Row, zone: Zone) -> None:
        """Do what a place in a row stands for."""
        if zone.target.startswith("turn:"):
            self.turn_requested.emit(int(zone.target.removeprefix("turn:")))
        else:
            self._perform(Act.FOLD if zone.target == FOLD_PLACE else Act(zone.target), row)

    def zone_at(self, at: QPoint) -> tuple[Row | None, Zone | None]:
        """The row under a point, and the clickable place in it."""
        index = self.indexAt(at)
        row = self.rows.row_at(index)
        if row is None:
            return None, None
        inside = at - self.visualRect(index).topLeft()
        zones = self.painter_.laid_at(row).zones
        return row, next((zone for zone in zones if zone.rect.adjusted(-3, -2, 3, 2).contains(inside)), None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.painter_.shows_focus = event.reason() is not Qt.FocusReason.MouseFocusReason
        if not self.currentIndex().isValid() and self.rows.rowCount():
            self._select(self.rows.index(0))
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.painter_.shows_focus = False
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        wider = event.oldSize().width() != event.size().width()
        anchor = self._anchor() if wider else None
        super().resizeEvent(event)
        if wider:
            self.painter_.layouts.begin_slice()
            self.scheduleDelayedItemsLayout()  # Qt itself does so for other heights only
            self._settle_timer.start()
        if anchor is not None:
            QTimer.singleShot(0, self, lambda: self._hold(anchor))

    def currentChanged(self, current: _Index, previous: _Index) -> None:
        super().currentChanged(current, previous)
        self.painter_.shows_focus = self.hasFocus()
        self.current_changed.emit()

    # -- inside ------------------------------------------------------------------------------------

    def _measure_some(self) -> None:
        """Measure rows whose height was guessed, a few at a time; then lay out once."""
        layouts = self.painter_.layouts
        if not layouts.has_guesses:
            return
        if layouts.measure_some(self.painter_.width()):
            self._settle_timer.start()
            return
        anchor = self._anchor()
        self.doItemsLayout()
        self._hold(anchor)

    def _on_edited(self, place: QPersistentModelIndex, text: str) -> None:
        row = self.rows.row_at(place)
        self._edited = None
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        if row is None:
            return
        if row.kind is RowKind.DRAFT:
            self.acted.emit(LineAction(act=Act.ADD, section=row.section, text=text))
            self.draft_ended.emit()
        else:
            self.acted.emit(LineAction(act=Act.EDIT, section=row.section, text=row.text, new_text=text))

    def _on_cancelled(self, place: QPersistentModelIndex) -> None:
        row = self.rows.row_at(place)
        self._edited = None
        if row is not None and row.kind is RowKind.DRAFT:
            self.draft_ended.emit()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _editor(self) -> LineEditor | None:
        return next((e for e in self.viewport().findChildren(LineEditor) if e.isVisible()), None)

    def _select(self, index: QModelIndex) -> None:
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _below(self, index: QModelIndex) -> QPoint:
        rect = self.visualRect(index)
        return self.viewport().mapToGlobal(QPoint(rect.left() + self._look.px(40), rect.bottom()))

    def _hover(self, key: str, target: str) -> None:
        if self.painter_.hovered == (key, target):
            return
        self.painter_.hovered = (key, target)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if target else Qt.CursorShape.ArrowCursor)
        self.viewport().update()

    def _anchor(self) -> tuple[str, int] | None:
        """The first row on screen and where it stands."""
        if self.verticalScrollBar().value() == 0:
            return None
        index = self.indexAt(QPoint(5, 1))
        row = self.rows.row_at(index)
        return (row.key, self.visualRect(index).top()) if row is not None else None

    def _hold(self, anchor: tuple[str, int] | None) -> None:
        """Bring a row back to where it stood on screen."""
        if anchor is None:
            return
        index = self.rows.find(anchor[0])
        if index.isValid():
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualRect(index).top() - anchor[1])

    def _on_glow(self, value: object) -> None:
        self.painter_.glow = float(value) if isinstance(value, float) else 0.0
        for key in self.painter_.glowing:
            self.update(self.rows.find(key))
        if self.painter_.glow <= 0:
            self.painter_.glowing = set()
