"""A notice over the memory: a compact that runs, what came of it, and archives that wait for a retry."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.words_commits import failed_words
from app.theme import Look
from app.views.base import make_button, make_label
from core.model import FailedArchive


class CommitNotice(QWidget):
    """Stands over the memory where there is something to say."""

    cancel_requested = Signal()
    retry_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._failed: tuple[FailedArchive, ...] = ()
        self.text = make_label("", "note-text", wrap=True)
        tip = "What is archived stays archived"
        self.cancel = make_button("Cancel", "link", self.cancel_requested.emit, name="Cancel compacting", tip=tip)
        self.close_ = make_button("Close", "link", lambda: self.show_result(""), name="Close this message")
        self.headline = make_label("", "heading", wrap=True)
        self.reason = make_label("", "note-text", wrap=True)
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.retry = make_button("Try again", "small", self.retry_requested.emit, tip="In the background, now")
        self._state, self._state_row = self._make_note("quiet-note")
        for widget in (self.text, self.cancel, self.close_):
            self._state_row.addWidget(widget, int(widget is self.text), Qt.AlignmentFlag.AlignTop)
        self._failure, self._failure_row = self._make_note("note")
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.headline)
        words.addWidget(self.reason)
        self._failure_row.addLayout(words, 1)
        self._failure_row.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._state)
        self._column.addWidget(self._failure)
        self._progress = self._result = ""
        self.restyle()
        self._show()

    def show_progress(self, text: str, *, can_cancel: bool) -> None:
        """Say where a compact stands; "" where none runs."""
        self._progress = text
        self.cancel.setVisible(bool(text) and can_cancel)
        self._show()

    def show_result(self, text: str) -> None:
        """Say what came of a compact, until that is closed; "" takes it away."""
        self._result = text
        self._show()

    def show_failed(self, failed: Sequence[FailedArchive], now: float) -> None:
        """Show what waits for a retry."""
        self._failed = tuple(failed)
        headline, reason = failed_words(self._failed, now)
        self.headline.setText(headline)
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self._show()

    def restyle(self) -> None:
        """Take the present zoom."""
        px = self._look.px
        self._column.setSpacing(px(8))
        for row in (self._state_row, self._failure_row):
            row.setContentsMargins(px(10), px(7), px(10), px(7))
            row.setSpacing(px(10))

    def _show(self) -> None:
        self.text.setText(self._progress or self._result)
        self.close_.setVisible(bool(self._result) and not self._progress)
        self._state.setVisible(bool(self._progress or self._result))
        self._failure.setVisible(bool(self._failed) and not self._progress)  # a compact tries these first
        self.setVisible(bool(self._progress or self._result or self._failed))

    @staticmethod
    def _make_note(kind: str) -> tuple[QFrame, QHBoxLayout]:
        note = QFrame()
        note.setProperty("kind", kind)
        return note, QHBoxLayout(note)
