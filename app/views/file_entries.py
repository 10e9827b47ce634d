"""The entries of a memory file with what can be done to each: other words in its place, or out with it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from app.rendering.display import one_line
from app.theme import Look
from app.views.base import make_button, make_label
from app.views.file_changes import find_known, make_jumps
from core.model import FileEntry, GoalKind, GoalProposal

MAX_SHOWN = 200  # rows; a file within its size limit has fewer
MAX_CHARS = 1_000


class EntryEdit(QPlainTextEdit):
    """One line of text that wraps: Enter saves, Escape leaves it."""

    saved = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.saved.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class EntryRow(QFrame):
    """An entry's words, whose they are, and its two actions."""

    changed = Signal(object, str)  # entry, new words
    removed = Signal(object)

    def __init__(self, look: Look, entry: FileEntry) -> None:
        super().__init__()
        self._look = look
        self.entry = entry
        self.setProperty("kind", "memory-line")
        text = self._text = make_label(entry.text[:MAX_CHARS], "line", wrap=True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        short = one_line(entry.text)[:60]
        self.edit = make_button("Edit", "link", self._on_edit, name=f"Edit: {short}")
        self.remove = make_button("Take out", "link", self._on_remove, name=f"Take out: {short}")
        whose = make_label("written by you" if entry.by_user else "written by Keepsake", "small")
        self.entry_edit: EntryEdit | None = None
        self._foot = QHBoxLayout()
        self._foot.setSpacing(look.px(10))
        self._foot.addWidget(whose, 1)
        self._foot.addWidget(self.edit)
        self._foot.addWidget(self.remove)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(look.px(8), look.px(5), look.px(8), look.px(5))
        self._column.setSpacing(look.px(2))
        self._column.addWidget(text)
        self._column.addLayout(self._foot)

    def close_editor(self) -> None:
        """Show the words again."""
        if self.entry_edit is not None:
            self.entry_edit.hide()
            self.entry_edit.deleteLater()
            self.entry_edit = None
        self._text.show()
        self.edit.setText("Edit")
        self.remove.setText("Take out")

    def _on_remove(self) -> None:
        if self.entry_edit is not None:
            self.close_editor()
        else:
            self.removed.emit(self.entry)

    def _on_edit(self) -> None:
        if self.entry_edit is not None:
            self._on_save()
            return
        edit = self.entry_edit = EntryEdit(self.entry.text)
        edit.setAccessibleName("The entry's words")
        edit.setProperty("kind", "line-editor")
        edit.setTabChangesFocus(True)
        lines = max(2, -(-self.entry_width() // max(1, self.width() - self._look.px(40))))
        edit.setFixedHeight(edit.fontMetrics().lineSpacing() * min(lines + 1, 8) + self._look.px(12))
        edit.saved.connect(self._on_save)
        edit.left.connect(self.close_editor)
        self._text.hide()
        self.edit.setText("Save")
        self.remove.setText("Cancel")
        self._column.insertWidget(0, edit)
        edit.selectAll()
        edit.setFocus()

    def entry_width(self) -> int:
        """The width of the words on one line, in pixels."""
        return self._text.fontMetrics().horizontalAdvance(self.entry.text)

    def _on_save(self) -> None:
        if self.entry_edit is None:
            return
        words = " ".join(self.entry_edit.toPlainText().split())
        if words == self.entry.text:
            self.close_editor()
        else:
            self.changed.emit(self.entry, words)


class EntryList(QFrame):
    """All entries of a file."""

    changed = Signal(object, str)
    removed = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setProperty("kind", "card")
        self.rows: list[EntryRow] = []
        self._rest = make_label("", "small", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._rest)
        self.restyle()

    def show_entries(self, entries: Sequence[FileEntry]) -> None:
        """Show entries; rows that are there already stay as they are, an open editor too."""
        old = {row.entry: row for row in self.rows}
        self.rows = [old.pop(entry) if entry in old else self._make_row(entry) for entry in entries[:MAX_SHOWN]]
        for gone in old.values():
            gone.hide()
            gone.deleteLater()
        for place, row in enumerate(self.rows):
            if self._column.indexOf(row) != place:
                self._column.insertWidget(place, row)
                row.show()
        left = len(entries) - len(self.rows)
        self._rest.setText(f"{left:,} more; edit the whole text to change them." if left > 0 else "")
        self._rest.setVisible(left > 0)

    def close_editors(self) -> None:
        """Show the words of all entries again."""
        for row in self.rows:
            row.close_editor()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        px = self._look.px
        self._column.setContentsMargins(px(6), px(6), px(6), px(6))
        self._column.setSpacing(px(2))
        entries = [row.entry for row in self.rows]
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = []
        if entries:
            self.show_entries(entries)

    def _make_row(self, entry: FileEntry) -> EntryRow:
        row = EntryRow(self._look, entry)
        row.changed.connect(self.changed)
        row.removed.connect(self.removed)
        return row


class ProposalCard(QFrame):
    """What is proposed about the long-term goals, and the two answers."""

    taken = Signal(int)
    dismissed = Signal(int)
    turn_requested = Signal(str, int)

    def __init__(self, look: Look, proposal: GoalProposal) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        px = look.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(13), px(10), px(13), px(10))
        column.setSpacing(px(4))
        column.addWidget(make_label(word_proposal(proposal), "body", wrap=True))
        column.addWidget(make_label(proposal.why, "muted", wrap=True))
        if known := find_known(proposal.turns, proposal.places):
            column.addLayout(make_jumps(look, known, self.turn_requested.emit))
        row = QHBoxLayout()
        row.addWidget(make_button("Do it", "small", lambda: self.taken.emit(proposal.id)))
        row.addWidget(make_button("No", "small", lambda: self.dismissed.emit(proposal.id), name="Do not do it"))
        row.addStretch(1)
        column.addLayout(row)


class Proposals(QWidget):
    """The proposals that wait."""

    taken = Signal(int)
    dismissed = Signal(int)
    turn_requested = Signal(str, int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.held: tuple[GoalProposal, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def show_proposals(self, proposals: Sequence[GoalProposal]) -> None:
        """Show what waits."""
        if tuple(proposals) != self.held:
            self.held = tuple(proposals)
            self.restyle()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._column.setSpacing(self._look.px(8))
        if self.held:
            self._column.addWidget(make_label("Keepsake proposes", "heading"))
        for proposal in self.held:
            card = ProposalCard(self._look, proposal)
            card.taken.connect(self.taken)
            card.dismissed.connect(self.dismissed)
            card.turn_requested.connect(self.turn_requested)
            self._column.addWidget(card)


def word_proposal(proposal: GoalProposal) -> str:
    """Say what a proposal would do."""
    before, text = one_line(proposal.before), one_line(proposal.text)
    if proposal.kind is GoalKind.ADD:
        return f"Add the goal “{text}”"
    if proposal.kind is GoalKind.DELETE:
        return f"Take the goal “{before}” out"
    return f"“{before}” becomes “{text}”"
