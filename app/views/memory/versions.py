"""The way through the versions: a slider with time and cause, and what to do with an old one."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.rendering.words import ago
from app.theme import Look
from app.views.base import make_button, make_label
from app.views.memory.difference import DifferenceList
from core.model import MemoryDiff, MemoryVersion, WorkingMemory
from core.wording import count

SLIDER_PAUSE_MS = 60  # a dragged slider passes many versions


class VersionBar(QWidget):
    """`v12 · 2 min ago ────o of 12`; while an old version is shown, why it was made and a way back to it."""

    version_chosen = Signal(int)
    restore_requested = Signal(int)
    difference_requested = Signal(int)
    undo_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._memory: WorkingMemory | None = None
        self._versions: dict[int, MemoryVersion] = {}
        self._now = 0.0
        self.label = make_label("", "muted")
        self.newest = make_label("", "muted")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Version of the memory")
        self.slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._timer = QTimer(self, interval=SLIDER_PAUSE_MS, singleShot=True)
        self._timer.timeout.connect(lambda: self.version_chosen.emit(self.slider.value()))
        self.slider.valueChanged.connect(self._on_slider)
        self._row = QHBoxLayout()
        self.undo_button = make_button("Undo", "link", self.undo_requested.emit)
        for widget, stretch in ((self.label, 0), (self.slider, 1), (self.newest, 0)):
            self._row.addWidget(widget, stretch)
        self._row.addStretch(0)
        self._row.addWidget(self.undo_button)
        self._build_old()
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addWidget(self.old)
        self.restyle()
        self.show_memory(None, 0.0)

    def _build_old(self) -> None:
        self.cause = make_label("", "note-text", wrap=True)
        self.restore_button = make_button("Restore this version", "small", self._on_restore)
        self.newest_button = make_button("Show the newest", "small", self._on_newest)
        self.changes_button = make_button("What changed since", "link", self._on_changes)
        self.difference = DifferenceList(self._look)
        self.difference.hide()
        self.old = QFrame()
        self.old.setProperty("kind", "note")
        self._buttons = QHBoxLayout()
        for button in (self.restore_button, self.newest_button):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self._old_column = QVBoxLayout(self.old)
        self._old_column.addWidget(self.cause)
        self._old_column.addLayout(self._buttons)
        self._old_column.addWidget(self.changes_button)
        self._old_column.addWidget(self.difference)

    def show_memory(self, memory: WorkingMemory | None, now: float) -> None:
        """Show which version is on screen."""
        same = self._memory is not None and memory is not None and self._memory.session_id == memory.session_id
        if not same:
            self._versions = {}
        if not same or (memory and self._memory and memory.version != self._memory.version):
            self.difference.hide()
        self._memory, self._now = memory, now
        self.setVisible(bool(memory and memory.newest > 0))
        if memory is None or memory.newest == 0:
            return
        if not self.slider.isSliderDown() and not self._timer.isActive():
            blocker = QSignalBlocker(self.slider)
            self.slider.setRange(min(1, memory.newest), memory.newest)
            self.slider.setValue(memory.version)
            blocker.unblock()
            self._say(memory.version)
        self.newest.setText(f"of {memory.newest}")
        self.slider.setVisible(memory.newest > 1)
        self.newest.setVisible(memory.newest > 1)
        self.undo_button.setVisible(bool(memory.undo) and memory.version == memory.newest)
        self.undo_button.setToolTip(f"Take back: {memory.undo} (Ctrl+Z)")
        self.undo_button.setAccessibleName(f"Undo: {memory.undo}")
        self._show_old(memory)

    def show_versions(self, versions: Sequence[MemoryVersion]) -> None:
        """Take what is known of the versions: time, cause, counts."""
        self._versions = {version.number: version for version in versions}
        if self._memory is not None:
            self._say(self.slider.value() if self._timer.isActive() else self._memory.version)
            self._show_old(self._memory)

    def show_difference(self, diff: MemoryDiff) -> None:
        """Show what changed between an old version and the newest."""
        if self._memory is not None and diff.older == self._memory.version:
            self.difference.show_changes(diff.changes)
            self.difference.show()
            self.changes_button.setText("Hide what changed since")

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        px = self._look.px
        self._column.setContentsMargins(px(12), px(10), px(12), 0)
        self._column.setSpacing(px(8))
        self._row.setSpacing(px(10))
        self._buttons.setSpacing(px(8))
        self._old_column.setContentsMargins(px(10), px(7), px(10), px(7))
        self._old_column.setSpacing(px(6))
        self.difference.restyle()

    def _say(self, number: int) -> None:
        """Name a version: number, age; what it did is the slider's description."""
        memory, version = self._memory, self._versions.get(number)
        at = version.at if version else memory.committed_at if memory and memory.version == number else None
        self.label.setText(f"v{number} · {ago(at, self._now)}" if at else f"v{number}")
        cause = version.cause if version else ""
        self.slider.setAccessibleDescription(f"{self.label.text()}. {cause}")
        self.slider.setToolTip(self._describe(version) if version else "")

    @staticmethod
    def _describe(version: MemoryVersion) -> str:
        counts = [f"{version.came} came" if version.came else "", f"{version.went} went" if version.went else ""]
        return " ".join([version.cause, *(f"{word}." for word in counts if word), f"{count(version.lines, 'line')}."])

    def _show_old(self, memory: WorkingMemory) -> None:
        self.old.setVisible(memory.version != memory.newest)
        if memory.version == memory.newest:
            return
        cause = memory.cause.strip()
        why = f" Why v{memory.version} was made: {cause[:1].lower()}{cause[1:]}" if cause else ""
        self.cause.setText(f"You are looking at v{memory.version}; v{memory.newest} is in use.{why}")
        self.restore_button.setAccessibleName(f"Restore version {memory.version}")
        if not self.difference.isVisibleTo(self):
            self.changes_button.setText("What changed since")

    def _on_slider(self, value: int) -> None:
        self._say(value)
        self._timer.start()

    def _on_restore(self) -> None:
        if self._memory is not None:
            self.restore_requested.emit(self._memory.version)

    def _on_newest(self) -> None:
        if self._memory is not None:
            self.version_chosen.emit(self._memory.newest)
            self.slider.setFocus()

    def _on_changes(self) -> None:
        if self.difference.isVisibleTo(self):
            self.difference.hide()
            self.changes_button.setText("What changed since")
        elif self._memory is not None:
            self.difference_requested.emit(self._memory.version)
