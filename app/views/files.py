"""The Files tab: a memory file as it is on disk, and its changes as differences that can be undone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QTimer, QUrl, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import ElidedLabel, Scroll, make_button, make_label
from app.views.file_body import FileBody
from app.views.file_changes import ChangeCard, find_known
from app.views.file_entries import EntryList, Proposals
from core.model import FileChange, GoalProposal, MemoryFile, Place, TurnId
from core.wording import count

PAGE_CHANGES = 10
PATIENCE_MS = 400  # a save that takes longer is said
WAITING = "Waiting for another program that is writing to these files…"
GOALS_FILE = "MEMORY_GOALS.md"
WATCH_PAUSE_MS = 150  # an editor writes in several steps
_EMPTY = {
    "MEMORY.md": "Nothing is written here yet. What outlives one conversation goes into this file.",
    "SKILL.md": "Nothing is written here yet. Ways of working that proved themselves go into this file.",
    "MEMORY_GOALS.md": "Nothing is written here yet. Long-running goals go into this file.",
}


class FilesTab(QWidget):
    """One file at a time: path, text, changes newest first."""

    undo_requested = Signal(int)
    copy_requested = Signal(str)
    link_activated = Signal(QUrl)
    changed_outside = Signal()
    turn_requested = Signal(str, int)  # conversation, turn
    entry_changed = Signal(str, object, str)  # file, entry, new words
    entry_removed = Signal(str, object)  # file, entry
    save_requested = Signal(str, str, str)  # file, text, the text it was made of
    goal_taken = Signal(int)
    goal_dismissed = Signal(int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._files: tuple[MemoryFile, ...] = ()
        self._now = 0.0
        self._name = "MEMORY.md"
        self._mode = "read"  # read, entries or text
        self._base = ""
        self._limit = PAGE_CHANGES
        self._cards: list[ChangeCard] = []
        self._choices: list[QPushButton] = []
        self._path = ElidedLabel("", "small")
        self._copy = make_button("Copy path", "link", self._on_copy)
        self._problem = make_label("", "error", wrap=True)
        self._warning = make_label("", "warning", wrap=True)
        self._message = make_label("", "error", wrap=True)
        self._waiting = make_label(WAITING, "muted", wrap=True)
        self._waiting.hide()
        self._patience = QTimer(self, interval=PATIENCE_MS, singleShot=True)
        self._patience.timeout.connect(self._waiting.show)
        self._empty = make_label("", "lead", wrap=True)
        self.body = FileBody(look)
        self.body.link_activated.connect(self.link_activated)
        self.body.copy_requested.connect(self.copy_requested)
        self.proposals = Proposals(look)
        self.proposals.taken.connect(self.goal_taken)
        self.proposals.dismissed.connect(self.goal_dismissed)
        self.proposals.turn_requested.connect(self.turn_requested)
        self._heading = make_label("Changes", "heading")
        self._more = make_button("Show older changes", "link", self._on_more)
        self._make_editors(look)
        self._make_watcher()
        self._lay_out(look)
        look.changed.connect(self._on_look)
        self._show()
        self.show_message("")

    def _make_editors(self, look: Look) -> None:
        self._edit = make_button("Edit entries", "link", self._on_edit)
        self._edit_text = make_button("Edit text", "link", self._on_edit_text)
        self._save = make_button("Save", "small", self._on_save)
        self.entries = EntryList(look)
        self.entries.changed.connect(lambda entry, words: self.entry_changed.emit(self._name, entry, words))
        self.entries.removed.connect(lambda entry: self.entry_removed.emit(self._name, entry))
        self.editor = QPlainTextEdit()
        self.editor.setAccessibleName("The whole file")
        self.editor.setProperty("kind", "sheet-editor")

    def _make_watcher(self) -> None:
        self._watcher = QFileSystemWatcher(self)
        self._watch_pause = QTimer(self, interval=WATCH_PAUSE_MS, singleShot=True)
        self._watch_pause.timeout.connect(self.changed_outside)
        self._watcher.fileChanged.connect(lambda _path: self._watch_pause.start())
        self._watcher.directoryChanged.connect(lambda _path: self._watch_pause.start())

    def _lay_out(self, look: Look) -> None:
        self._buttons = QHBoxLayout()
        self._buttons.addStretch(1)
        self._changes = QVBoxLayout()
        path_row = QHBoxLayout()
        path_row.addWidget(self._path, 1)
        for button in (self._edit, self._edit_text, self._copy):
            path_row.addWidget(button)
        save_row = QHBoxLayout()
        save_row.addWidget(self._save)
        save_row.addStretch(1)
        self.area = Scroll(look)
        self.area.setAccessibleName("Memory files")
        self.area.column.addLayout(self._buttons)
        self.area.column.addLayout(path_row)
        shown = (self._problem, self._warning, self._message, self._waiting, self.proposals, self._empty)
        for widget in (*shown, self.body, self.entries, self.editor):
            self.area.column.addWidget(widget)
        self.area.column.addLayout(save_row)
        self.area.column.addWidget(self._heading)
        self.area.column.addLayout(self._changes)
        self.area.column.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)

    def show_files(self, files: Sequence[MemoryFile], now: float) -> None:
        """Show the files as they are now."""
        self._files, self._now = tuple(files), now
        self._show()
        self._watch()

    def show_message(self, text: str) -> None:
        """What went wrong with the last thing asked for."""
        self._message.setText(text)
        self._message.setVisible(bool(text) and text != self._problem.text())

    def show_proposals(self, proposals: Sequence[GoalProposal]) -> None:
        """Show what is proposed about the goals, on their page."""
        self.proposals.show_proposals(proposals)
        self._place_proposals()

    def set_busy(self, busy: bool) -> None:
        """Something is being written: nothing else is asked for meanwhile, and a long wait is said."""
        self.entries.setEnabled(not busy)
        self._save.setEnabled(not busy)
        self.proposals.setEnabled(not busy)
        if busy and not self._patience.isActive():
            self._patience.start()
        elif not busy:
            self._patience.stop()
            self._waiting.hide()

    def close_editors(self) -> None:
        """What was typed is saved: show the file."""
        self.entries.close_editors()
        if self._mode == "text":
            self._set_mode("read")

    def choose(self, name: str) -> None:
        """Show another file."""
        self._name, self._limit = name, PAGE_CHANGES
        self._mode = "read"
        self.show_message("")
        self._show()

    def _show(self) -> None:
        names = [f.name for f in self._files]
        if names and self._name not in names:
            self._name = names[0]
        self._show_buttons(names)
        file = next((f for f in self._files if f.name == self._name), None)
        text = file.text if file else ""
        self._path.set_whole(file.path if file else "")
        self._copy.setVisible(file is not None)
        self._problem.setText(file.problem if file else "")
        self._problem.setVisible(bool(file and file.problem))
        self._empty.setText(_EMPTY.get(self._name, "Nothing is written here yet."))
        self._empty.setVisible(not text.strip() and not (file and file.problem) and self._mode != "text")
        self._warning.setText(f"⚠ {file.warning}" if file and file.warning else "")
        self._warning.setVisible(bool(file and file.warning))
        self._show_editing(file)
        if text != self.body.blocks.text:
            self.body.set_text(text)
        self._show_changes(file)

    def _show_buttons(self, names: Sequence[str]) -> None:
        if [button.text() for button in self._choices] != list(names):
            for button in self._choices:
                button.hide()
                button.deleteLater()
            self._choices = [self._make_choice(name) for name in names]
        for button in self._choices:
            button.setChecked(button.text() == self._name)

    def _make_choice(self, name: str) -> QPushButton:
        button = make_button(name, "segment", lambda: self.choose(name))
        button.setCheckable(True)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    def _show_editing(self, file: MemoryFile | None) -> None:
        """Show the file, its entries or its text, and the way from one to the other."""
        entries, fine = (file.entries if file else ()), file is not None and not file.problem
        if self._mode == "entries" and not entries:
            self._mode = "read"
        self.body.setVisible(self._mode == "read" and bool(file and file.text.strip()))
        self.entries.setVisible(self._mode == "entries")
        self.editor.setVisible(self._mode == "text")
        self._save.setVisible(self._mode == "text")
        self._edit.setText("Done" if self._mode == "entries" else "Edit entries")
        self._edit.setVisible(fine and bool(entries) and self._mode != "text")
        self._edit_text.setText("Cancel" if self._mode == "text" else "Edit text")
        self._edit_text.setVisible(fine and self._mode != "entries")
        self._place_proposals()
        if self._mode == "entries":
            self.entries.show_entries(entries)

    def _place_proposals(self) -> None:
        self.proposals.setVisible(bool(self.proposals.held) and self._name == GOALS_FILE)

    def _set_mode(self, mode: str) -> None:
        self._mode = mode
        self.show_message("")
        self._show()

    def _on_edit(self) -> None:
        self._set_mode("read" if self._mode == "entries" else "entries")

    def _on_edit_text(self) -> None:
        file = next((f for f in self._files if f.name == self._name), None)
        if self._mode != "text" and file is not None:
            self._base = file.text  # what is typed is laid over it, and over what comes in meanwhile
            self.editor.setPlainText(file.text)
            lines = min(24, max(8, file.text.count("\n") + 3))
            self.editor.setFixedHeight(self.editor.fontMetrics().lineSpacing() * lines)
        self._set_mode("read" if self._mode == "text" else "text")
        if self._mode == "text":
            self.editor.setFocus()

    def _on_save(self) -> None:
        text = self.editor.toPlainText()
        if "\r\n" in self._base:
            text = text.replace("\n", "\r\n")
        if self._base.startswith("\ufeff") and not text.startswith("\ufeff"):
            text = "\ufeff" + text
        if text == self._base:
            self._set_mode("read")
        else:
            self.save_requested.emit(self._name, text, self._base)

    def _show_changes(self, file: MemoryFile | None) -> None:
        """Show the newest; cards that are there already stay, so that the reader keeps the place."""
        changes = file.changes if file else ()
        shown = tuple(changes[: self._limit])
        self._heading.setText(count(len(changes), "change"))
        self._heading.setVisible(bool(changes))
        self._more.setVisible(len(changes) > len(shown))
        bar = self.area.verticalScrollBar()
        at = bar.value()
        old = {card.shown: card for card in self._cards}
        places = file.places if file else {}
        wanted = [(change, find_known(change.turns, places)) for change in shown]
        self._cards = [old.pop(each) if each in old else self._make_card(each[0], places) for each in wanted]
        for gone in old.values():
            if gone.isAncestorOf(self.focusWidget() or self):
                self.area.setFocus()  # the button that was pressed goes with its card
            gone.hide()
            gone.deleteLater()
        for i, card in enumerate(self._cards):
            card.set_now(self._now)
            if self._changes.indexOf(card) != i:
                self._changes.insertWidget(i, card)
                card.show()
        self.area.fit()
        bar.setValue(at)

    def _make_card(self, change: FileChange, places: Mapping[TurnId, Place]) -> ChangeCard:
        card = ChangeCard(self._look, change, self._now, places)
        card.turn_requested.connect(self.turn_requested)
        card.undo_requested.connect(self.undo_requested)
        return card

    def _watch(self) -> None:
        """Notice writers outside: a file that is replaced has to be watched anew."""
        paths = {file.path for file in self._files if Path(file.path).is_file()}
        paths |= {str(Path(file.path).parent) for file in self._files if Path(file.path).parent.is_dir()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - paths:
            self._watcher.removePaths(sorted(gone))
        if new := paths - watched:
            self._watcher.addPaths(sorted(new))

    def _on_more(self) -> None:
        self._limit += PAGE_CHANGES
        self._show()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._path.whole())
        self._copy.setText("Copied")
        QTimer.singleShot(1_500, self._copy, lambda: self._copy.setText("Copy path"))

    def _on_look(self) -> None:
        px = self._look.px
        self.area.column.setContentsMargins(px(12), px(12), px(12), px(12))
        self.area.column.setSpacing(px(10))
        self._buttons.setSpacing(px(4))
        self._changes.setSpacing(px(10))
        for card in self._cards:
            card.hide()
            card.deleteLater()
        self._cards = []
        self.body.restyle()
        self.entries.restyle()
        self.proposals.restyle()
        self._show()
