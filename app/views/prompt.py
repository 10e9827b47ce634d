"""The Prompt tab: what was sent to the model for a reply, part by part, and what was left out of it and why."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.rendering.words import clock_time
from app.rendering.words_prompt import prompt_cost, prompt_place, prompt_reuse
from app.theme import Look
from app.views.base import Scroll, make_button, make_label
from app.views.prompt_part import PartRow, RecalledRow, TokenBar
from core.model import PartKind, SentPrompt

EMPTY = (
    "Nothing was sent here yet. With each reply this tab shows exactly what the model was given: instructions, what "
    "is known of you, Working Memory, messages, what was recalled from other conversations, and what there was no "
    "room for."
)
NO_INSTRUCTIONS = "None. What you write here stands at the top of every prompt of this conversation."


class InstructionsCard(QFrame):
    """What the user tells the model for this conversation; changed in place."""

    saved = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._look = look
        self._text = ""
        self.shown = make_label("", "line", wrap=True)
        self.entry = QPlainTextEdit()
        self.entry.setAccessibleName("Instructions for this conversation")
        self.entry.setTabChangesFocus(True)
        self.change = make_button("Change", "link", self._on_change, name="Change the instructions")
        self.save = make_button("Save", "small", self._on_save)
        self.cancel = make_button("Cancel", "small", self._on_cancel)
        head = QHBoxLayout()
        head.addWidget(make_label("Instructions for this conversation", "heading"))
        head.addStretch(1)
        head.addWidget(self.change)
        buttons = QHBoxLayout()
        buttons.addWidget(self.save)
        buttons.addWidget(self.cancel)
        buttons.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.addLayout(head)
        self._column.addWidget(self.shown)
        self._column.addWidget(self.entry)
        self._column.addLayout(buttons)
        self._edit(False)
        self.restyle()

    def set_text(self, text: str, possible: bool) -> None:
        """Show what is stored; what is being typed stays."""
        self.setVisible(possible)
        if not possible:
            self._edit(False)
        self._text = text
        self.shown.setText(text or NO_INSTRUCTIONS)

    def restyle(self) -> None:
        """Take the present zoom."""
        px = self._look.px
        self._column.setContentsMargins(px(13), px(10), px(13), px(10))
        self._column.setSpacing(px(6))
        self.entry.setFixedHeight(px(110))

    def _edit(self, editing: bool) -> None:
        editors: tuple[QWidget, ...] = (self.entry, self.save, self.cancel)
        for widget in editors:
            widget.setVisible(editing)
        self.shown.setVisible(not editing)
        self.change.setVisible(not editing)

    def _on_change(self) -> None:
        self.entry.setPlainText(self._text)
        self._edit(True)
        self.entry.setFocus()

    def _on_save(self) -> None:
        self._edit(False)
        self.saved.emit(self.entry.toPlainText())
        self.change.setFocus()

    def _on_cancel(self) -> None:
        self._edit(False)
        self.change.setFocus()


class PromptTab(QWidget):
    """Cards: the prompt as a whole, its parts, what was recalled, the conversation's own instructions."""

    chosen = Signal(int, bool)  # turn, whether it is the newest
    instructions_saved = Signal(str)
    turn_requested = Signal(str, int)  # conversation, turn
    copy_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._sent: SentPrompt | None = None
        self._now = 0.0
        self._rows: dict[PartKind, PartRow] = {}
        self._recalled: list[RecalledRow] = []
        self.area = Scroll(look)
        self.area.setAccessibleName("Prompt")
        self.empty = make_label(EMPTY, "lead", wrap=True)
        self.older = make_button("‹", "small", self._on_older, name="The reply before", tip="The reply before")
        self.newer = make_button("›", "small", self._on_newer, name="The reply after", tip="The reply after")
        self.place = make_label("", "heading")
        self.when = make_label("", "muted")
        self.cost = make_label("", "line", wrap=True)
        self.reuse = make_label("", "muted", wrap=True)
        self.bar = TokenBar(look)
        self.instructions = InstructionsCard(look)
        self.instructions.saved.connect(self.instructions_saved)
        self._whole, self._whole_column = self._card()
        self._parts, self._parts_column = self._card("Parts, in the order the model reads them")
        self._recall, self._recall_column = self._card("Considered for this message")
        head = QHBoxLayout()
        head.addWidget(self.older)
        head.addWidget(self.newer)
        head.addWidget(self.place)
        head.addStretch(1)
        head.addWidget(self.when)
        self._whole_column.addLayout(head)
        self._whole_column.addWidget(self.bar)
        self._whole_column.addWidget(self.cost)
        self._whole_column.addWidget(self.reuse)
        for card in (self.empty, self._whole, self._parts, self._recall, self.instructions):
            self.area.column.addWidget(card)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)
        look.changed.connect(self._on_look)
        self._on_look()

    def show_prompt(self, sent: SentPrompt | None, now: float) -> None:
        """Show what was sent for a reply, or that nothing was."""
        self._sent, self._now = sent, now
        self.setUpdatesEnabled(False)
        self.empty.setVisible(sent is None)
        self._whole.setVisible(sent is not None)
        self._parts.setVisible(sent is not None)
        self._recall.setVisible(sent is not None and bool(sent.recalled))
        if sent is not None:
            self._show_whole(sent)
            self._show_parts(sent)
            self._show_recalled(sent)
        self.setUpdatesEnabled(True)

    def show_instructions(self, text: str, possible: bool) -> None:
        """Show the conversation's own instructions; not `possible` where there is no conversation yet."""
        self.instructions.set_text(text, possible)

    def rows(self) -> dict[PartKind, PartRow]:
        """The parts on screen."""
        kinds = [part.kind for part in self._sent.parts] if self._sent else []
        return {kind: self._rows[kind] for kind in kinds}

    def recalled_rows(self) -> tuple[RecalledRow, ...]:
        """The recalled items on screen."""
        return tuple(self._recalled)

    def _show_whole(self, sent: SentPrompt) -> None:
        self.place.setText(prompt_place(sent))
        self.when.setText(" · ".join(filter(None, (sent.model, clock_time(sent.at, self._now)))))
        self.older.setEnabled(sent.older is not None)
        self.newer.setEnabled(sent.newer is not None)
        for button in (self.older, self.newer):
            button.setVisible(sent.count > 1)
        self.cost.setText(prompt_cost(sent))
        self.reuse.setText(prompt_reuse(sent))
        self.reuse.setVisible(bool(self.reuse.text()))
        self.bar.set_prompt(sent)

    def _show_parts(self, sent: SentPrompt) -> None:
        for row in self._rows.values():
            row.hide()
        for place, part in enumerate(sent.parts):
            if part.kind not in self._rows:
                self._rows[part.kind] = PartRow(self._look)
                self._rows[part.kind].copy_requested.connect(self.copy_requested)
            row = self._rows[part.kind]
            self._parts_column.removeWidget(row)
            self._parts_column.insertWidget(1 + place, row)
            row.set_part(part)
            row.show()

    def _show_recalled(self, sent: SentPrompt) -> None:
        for row in self._recalled:
            row.hide()
            row.deleteLater()
        self._recalled = [RecalledRow(self._look, item) for item in sent.recalled]
        for row in self._recalled:
            row.turn_requested.connect(self.turn_requested)
            self._recall_column.addWidget(row)

    def _card(self, heading: str = "") -> tuple[QFrame, QVBoxLayout]:
        card = QFrame()
        card.setProperty("kind", "card")
        column = QVBoxLayout(card)
        column.setAlignment(Qt.AlignmentFlag.AlignTop)
        if heading:
            label: QLabel = make_label(heading, "heading", wrap=True)
            column.addWidget(label)
        return card, column

    def _on_older(self) -> None:
        if self._sent is not None and self._sent.older is not None:
            self.chosen.emit(self._sent.older, False)

    def _on_newer(self) -> None:
        if self._sent is not None and self._sent.newer is not None:
            self.chosen.emit(self._sent.newer, self._sent.place + 1 == self._sent.count)

    def _on_look(self) -> None:
        px = self._look.px
        self.area.column.setContentsMargins(px(12), px(12), px(12), px(12))
        self.area.column.setSpacing(px(10))
        for column in (self._whole_column, self._parts_column, self._recall_column):
            column.setContentsMargins(px(13), px(10), px(13), px(10))
            column.setSpacing(px(6))
        self._recall_column.setSpacing(px(10))
        self.instructions.restyle()
        open_kinds = {kind for kind, row in self._rows.items() if row.is_open}
        for row in self._rows.values():  # made anew at the new zoom
            row.hide()
            row.deleteLater()
        self._rows = {}
        self.show_prompt(self._sent, self._now)
        for kind in open_kinds & self._rows.keys():
            self._rows[kind].fold.click()
