"""A sheet for one conversation: how its answers are drawn, what the model is told, presets. Not modal."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.theme import Look
from app.views.base import make_button, make_label
from app.views.chat import ChatPane
from core.model_files import ConversationSettings, Preset, Sampling

OWN = "No preset"
READS_AGAIN = (
    "▲ These instructions stand before everything else, so the model reads the whole conversation again with your "
    "next message. That takes longer once."
)
LATER = "Holds from your next message on, for this conversation only."
# name, label, hint, from, to, step, decimals
_NUMBERS = (
    ("temperature", "Temperature", "0 takes the likeliest word each time; higher is freer", 0.0, 2.0, 0.1, 2),
    ("top_p", "Top-p", "only the likeliest words that together make up this share", 0.0, 1.0, 0.05, 2),
    ("top_k", "Top-k", "only this many likeliest words; 0: no limit", 0, 1000, 5, 0),
    ("min_p", "Min-p", "no word less likely than this share of the likeliest", 0.0, 1.0, 0.01, 2),
    ("repeat_penalty", "Repeat penalty", "1 is none; higher repeats less", 1.0, 2.0, 0.05, 2),
    ("max_tokens", "Longest answer", "in tokens; about three quarters of a word each", 1, 32_768, 128, 0),
)


class AskingSheet(QDialog):
    """Says what the user wants; shows what is stored."""

    save_requested = Signal(ConversationSettings)
    reset_requested = Signal()
    preset_chosen = Signal(str)
    opened = Signal()

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        self._look = look
        self._stored = ConversationSettings(sampling=Sampling())
        self._presets: tuple[Preset, ...] = ()
        self._preset = ""
        self.setWindowTitle("Answers in this conversation · Keepsake")
        self.setWindowModality(Qt.WindowModality.NonModal)
        self.presets = make_button("", "small", self._open_presets)
        self.preset_menu: QMenu | None = None
        self.numbers: dict[str, QSpinBox | QDoubleSpinBox] = {}
        self.instructions = QPlainTextEdit()
        self.instructions.setProperty("kind", "sheet-editor")
        self.instructions.setAccessibleName("Instructions for the model in this conversation")
        self.instructions.setPlaceholderText("For example: Answer in short sentences. Say so when you are not sure.")
        self.instructions.setTabChangesFocus(True)
        self.instructions.textChanged.connect(self._on_edit)
        self._note = make_label(LATER, "muted", wrap=True)
        self._error = make_label("", "error", wrap=True)
        self._error.hide()
        self.save = make_button("Save", "send", self._on_save)
        self.reset = make_button(
            "Back to the defaults", "small", self.reset_requested.emit, tip="What a new conversation has"
        )
        self.cancel = make_button("Cancel", "small", self.close)
        self._build()
        QShortcut(QKeySequence("Ctrl+Return"), self, self._on_save)
        look.changed.connect(self._on_look)
        self._on_look()

    def open_up(self) -> None:
        """Show the sheet with what is stored, or bring it to the front."""
        if not self.isVisible():
            self._forget_edits()
            self.opened.emit()
        self.show()
        self.raise_()
        self.activateWindow()
        self.presets.setFocus()

    def _forget_edits(self) -> None:
        """What was typed and not saved the last time is gone."""
        stored, self._stored = self._stored, replace(self._stored, system_prompt="\0")
        self.show_settings(stored, self._presets)

    def show_settings(self, settings: ConversationSettings, presets: Sequence[Preset]) -> None:
        """Show what is stored; what is being typed stays while nothing else changed it."""
        if tuple(presets) == self._presets and settings == self._stored:
            return
        self._stored, self._presets = settings, tuple(presets)
        self._preset = settings.preset
        self._show_preset()
        for name, field in self.numbers.items():
            with QSignalBlocker(field):
                field.setValue(getattr(settings.sampling, name))
        with QSignalBlocker(self.instructions):
            self.instructions.setPlainText(settings.system_prompt)
        self.show_error("")
        self._on_edit()

    def show_error(self, text: str) -> None:
        """Why it was not saved; what was typed stays."""
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def settings(self) -> ConversationSettings:
        """What the fields hold."""
        values = {field.name: self.numbers[field.name].value() for field in fields(Sampling)}
        whole = {name: int(value) if name in ("top_k", "max_tokens") else value for name, value in values.items()}
        sampling = Sampling(
            temperature=whole["temperature"], top_p=whole["top_p"], top_k=int(whole["top_k"]), min_p=whole["min_p"],
            repeat_penalty=whole["repeat_penalty"], max_tokens=int(whole["max_tokens"]),
        )  # fmt: skip
        return replace(self._stored, sampling=sampling, system_prompt=self.instructions.toPlainText().strip())

    def _build(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.addWidget(make_label("Answers in this conversation", "title"))
        top = QHBoxLayout()
        top.addWidget(make_label("Preset", "line"))
        top.addWidget(self.presets)
        top.addStretch(1)
        column.addLayout(top)
        grid = self._grid = QGridLayout()
        grid.setColumnStretch(2, 1)
        for row, (name, label, hint, low, high, step, decimals) in enumerate(_NUMBERS):
            field = self._make_field(low, high, step, decimals)
            field.setAlignment(Qt.AlignmentFlag.AlignCenter)
            field.setAccessibleName(f"{label}: {hint}")
            field.setToolTip(hint)
            grid.addWidget(make_label(label, "line"), row, 0)
            grid.addWidget(field, row, 1)
            grid.addWidget(make_label(hint, "muted", wrap=True), row, 2)
            self.numbers[name] = field
        column.addLayout(grid)
        column.addWidget(make_label("Instructions for the model (part of its system prompt)", "line"))
        column.addWidget(self.instructions, 1)
        column.addWidget(self._note)
        column.addWidget(self._error)
        buttons = QHBoxLayout()
        buttons.addWidget(self.reset)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.save)
        column.addLayout(buttons)

    def _make_field(self, low: float, high: float, step: float, decimals: int) -> QSpinBox | QDoubleSpinBox:
        if decimals:
            field = QDoubleSpinBox(decimals=decimals, minimum=low, maximum=high, singleStep=step)
            field.valueChanged.connect(self._on_edit)
            return field
        whole = QSpinBox(minimum=int(low), maximum=int(high), singleStep=int(step))
        whole.valueChanged.connect(self._on_edit)
        return whole

    def _on_edit(self, _value: object = None) -> None:
        now = self.settings()
        reads_again = now.system_prompt != self._stored.system_prompt
        self._note.setText(READS_AGAIN if reads_again else LATER)
        self.save.setEnabled(now != self._stored)

    def _show_preset(self) -> None:
        named = next((each.name("en") for each in self._presets if each.id == self._preset), OWN)
        self.presets.setText(f"{named}  ▾")
        self.presets.setAccessibleName(f"Preset: {named}")

    def _open_presets(self) -> None:
        menu = self.preset_menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in self._presets:
            entry = QAction(each.name("en"), menu)
            entry.setCheckable(True)
            entry.setChecked(each.id == self._preset)
            entry.triggered.connect(partial(self._on_preset, each.id))
            menu.addAction(entry)
        menu.popup(self.presets.mapToGlobal(self.presets.rect().bottomLeft()))

    def _on_preset(self, preset_id: str, _checked: bool = False) -> None:
        self.preset_chosen.emit(preset_id)

    def _on_save(self) -> None:
        if self.save.isEnabled():
            self.save_requested.emit(self.settings())

    def _on_look(self) -> None:
        px = self._look.px
        self._column.setContentsMargins(px(24), px(18), px(24), px(16))
        self._column.setSpacing(px(10))
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(6))
        for field in self.numbers.values():
            field.setFixedWidth(px(104))
        self.instructions.setMinimumHeight(px(96))
        self.resize(px(560), px(560))


class AskingPane(QObject):
    """The sheet, made when it is first opened, and its button in the chat's header, as the presenter sees them."""

    save_requested = Signal(ConversationSettings)
    reset_requested = Signal()
    preset_chosen = Signal(str)
    opened = Signal()

    def __init__(self, window: QWidget, chat: ChatPane, look: Look) -> None:
        super().__init__(window)
        self._window = window
        self._chat = chat
        self._look = look
        self._shown: tuple[ConversationSettings, Sequence[Preset]] | None = None
        self.sheet: AskingSheet | None = None

    def open_up(self) -> None:
        """Open the sheet of the conversation that is open; there is none before the first message."""
        if self._shown is None:
            return
        if self.sheet is None:
            sheet = self.sheet = AskingSheet(self._window, self._look)
            sheet.save_requested.connect(self.save_requested)
            sheet.reset_requested.connect(self.reset_requested)
            sheet.preset_chosen.connect(self.preset_chosen)
            sheet.opened.connect(self.opened)
            sheet.show_settings(*self._shown)
        self.sheet.open_up()

    def show_asking(self, settings: ConversationSettings, presets: Sequence[Preset]) -> None:
        self._shown = (settings, presets)
        if self.sheet is not None:
            self.sheet.show_settings(settings, presets)

    def show_preset_name(self, name: str) -> None:
        self._chat.show_answers(name)

    def show_asking_error(self, text: str) -> None:
        if self.sheet is not None:
            self.sheet.show_error(text)

    def close_asking(self) -> None:
        if self.sheet is not None:
            self.sheet.close()
