"""The Settings sheet: Memory, Models, Appearance; each switch with a sentence. Open beside the window, not over it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.rendering.words_settings import MEMORY, MODELS, Words
from app.theme import Look, ThemeMode
from app.views.base import Scroll, make_button, make_label
from app.views.switch import Switch
from core.settings_view import SettingItem, Source

WIDTH, HEIGHT = 560, 680  # design pixels
ZOOM_STEP = 10
_THEMES = ((ThemeMode.SYSTEM, "As the system"), (ThemeMode.LIGHT, "Light"), (ThemeMode.DARK, "Dark"))


class WheelGuard(QObject):
    """Lets the wheel scroll the sheet instead of changing the value it happens to pass over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)


class SettingRow(QWidget):
    """One setting: its switch or field, what it does, and a note on it."""

    changed = Signal(str, str)

    def __init__(self, look: Look, words: Words, guard: WheelGuard) -> None:
        super().__init__()
        self._look = look
        self._words = words
        self.field: QCheckBox | QComboBox | QSpinBox = self._make_field(guard)
        self.field.setAccessibleName(words.name)
        self.field.setAccessibleDescription(words.sentence)
        self.field.setEnabled(False)  # until it is known what is set
        sentence = make_label(words.sentence, "muted", wrap=True)
        self._note = make_label("", "warning", wrap=True)
        self._note.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, look.px(5), 0, look.px(5))
        column.setSpacing(look.px(2))
        if isinstance(self.field, QCheckBox):
            column.addWidget(self.field)
        else:
            head = QHBoxLayout()
            head.addWidget(make_label(words.name, "line"), 1)
            head.addWidget(self.field)
            column.addLayout(head)
        below = QVBoxLayout()
        below.setContentsMargins(look.px(26) if isinstance(self.field, QCheckBox) else 0, 0, 0, 0)
        below.addWidget(sentence)
        below.addWidget(self._note)
        column.addLayout(below)

    def show_item(self, item: SettingItem) -> None:
        """Show what is set, without taking it for a change by the user."""
        self.field.blockSignals(True)
        if isinstance(self.field, QCheckBox):
            self.field.setChecked(bool(item.value))
        elif isinstance(self.field, QComboBox):
            self.field.setCurrentIndex(max(0, self.field.findData(item.value)))
        elif not self.field.hasFocus():
            self.field.setValue(int(item.value or 0))
        self.field.blockSignals(False)
        fixed = item.source is Source.ENVIRONMENT
        self.field.setEnabled(not fixed)
        if fixed:
            self.show_note(f"Set by {item.variable} in the environment, which wins.")

    def show_note(self, text: str) -> None:
        """Say something about the setting; nothing for ""."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def _make_field(self, guard: WheelGuard) -> QCheckBox | QComboBox | QSpinBox:
        words = self._words
        if words.choices:
            combo = QComboBox()
            for value, name in words.choices:
                combo.addItem(name, value)
            combo.activated.connect(lambda at: self.changed.emit(words.key, str(combo.itemData(at))))
            combo.installEventFilter(guard)
            return combo
        if words.most:
            spin = QSpinBox()
            spin.setRange(0, words.most)
            spin.setSuffix(words.suffix)
            spin.setKeyboardTracking(False)
            spin.setGroupSeparatorShown(True)
            spin.valueChanged.connect(lambda value: self.changed.emit(words.key, str(value)))
            spin.installEventFilter(guard)
            return spin
        box = Switch(self._look, words.name)
        box.clicked.connect(lambda on: self.changed.emit(words.key, "on" if on else "off"))
        return box


class SettingsSheet(QDialog):
    """Shows settings and says which the user changes; closes on Esc."""

    changed = Signal(str, str)  # key, value as text
    theme_chosen = Signal(str)
    models_requested = Signal()
    zoom_wanted = Signal(int)  # a step in percent; 0: back to 100 %

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        self._look = look
        self.setWindowTitle("Settings")
        self.setModal(False)
        self._rows: dict[str, SettingRow] = {}
        self.models_button: QPushButton | None = None  # one a zoom
        self._guard = WheelGuard(self)
        self._error = make_label("", "error", wrap=True)
        self._error.hide()
        self._body: Scroll | None = None
        self._items: tuple[SettingItem, ...] = ()
        self._column = QVBoxLayout(self)
        self._close = make_button("Close", "plain", self.accept)
        self._column.addWidget(self._error)
        self._column.addWidget(self._close, 0, Qt.AlignmentFlag.AlignRight)
        look.changed.connect(self._on_look)
        self._on_look()

    def show_settings(self, items: Sequence[SettingItem]) -> None:
        """Show what is set."""
        self._items = tuple(items)
        for item in items:
            if item.key in self._rows:
                self._rows[item.key].show_item(item)

    def show_note(self, key: str, text: str) -> None:
        """Say something about one setting, such as when it takes effect."""
        if key in self._rows:
            self._rows[key].show_note(text)
            if self._body is not None:
                self._body.fit()

    def show_error(self, text: str) -> None:
        """Say what could not be changed, and why; nothing for ""."""
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def _build(self) -> Scroll:
        """Make the rows anew: their sizes are those of a zoom."""
        body = Scroll(self._look, margins=0, spacing=12)
        body.setAccessibleName("Settings")
        self._rows = {}
        for heading, words in (("Memory", MEMORY), ("Models", MODELS)):
            rows: list[QWidget] = [self._make_row(each) for each in words]
            body.column.addWidget(self._make_card(heading, [self._make_models(), *rows] if words is MODELS else rows))
        body.column.addWidget(self._make_card("Appearance", [self._make_themes(), self._make_zoom()]))
        return body

    def _make_card(self, heading: str, rows: Sequence[QWidget]) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "card")
        px = self._look.px
        column = QVBoxLayout(card)
        column.setContentsMargins(px(16), px(12), px(16), px(12))
        column.setSpacing(px(4))
        column.addWidget(make_label(heading, "heading"))
        for row in rows:
            column.addWidget(row)
        return card

    def _make_row(self, words: Words) -> SettingRow:
        row = self._rows[words.key] = SettingRow(self._look, words, self._guard)
        row.changed.connect(self.changed)
        return row

    def _make_models(self) -> QWidget:
        tip = "Which model answers and which keeps memory; add, examine and remove models"
        self.models_button = make_button("Models…", "small", self.models_requested.emit, tip=tip)
        return self._make_line("Which models are used", [self.models_button])

    def _make_themes(self) -> QWidget:
        group = QButtonGroup(self)
        buttons = []
        for mode, name in _THEMES:
            button = make_button(name, "segment", self._chooser(mode), name=f"Colours: {name.lower()}")
            button.setCheckable(True)
            button.setChecked(self._look.mode is mode)
            group.addButton(button)
            buttons.append(button)
        return self._make_line("Colours", buttons)

    def _chooser(self, mode: ThemeMode) -> Callable[[], None]:
        return lambda: self.theme_chosen.emit(mode.value)

    def _make_zoom(self) -> QWidget:
        smaller = make_button("\N{MINUS SIGN}", "small", lambda: self.zoom_wanted.emit(-ZOOM_STEP), name="Smaller")
        normal = make_button(
            f"{self._look.zoom_percent} %", "small", lambda: self.zoom_wanted.emit(0), name="Normal size"
        )
        normal.setToolTip("Back to 100 %")
        larger = make_button("+", "small", lambda: self.zoom_wanted.emit(ZOOM_STEP), name="Larger")
        return self._make_line("Size of text and controls", [smaller, normal, larger])

    def _make_line(self, name: str, widgets: Sequence[QWidget]) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, self._look.px(5), 0, self._look.px(5))
        row.setSpacing(self._look.px(4))
        row.addWidget(make_label(name, "line"), 1)
        for widget in widgets:
            row.addWidget(widget)
        return line

    def _on_look(self) -> None:
        px = self._look.px
        self._column.setContentsMargins(px(18), px(16), px(18), px(14))
        self._column.setSpacing(px(12))
        place = self._body.verticalScrollBar().value() if self._body is not None else 0
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.hide()
            self._body.deleteLater()
        self._body = self._build()
        self._column.insertWidget(1, self._body, 1)
        self.show_settings(self._items)
        room = self.screen().availableSize()
        self.resize(min(px(WIDTH), room.width() - 20), min(px(HEIGHT), room.height() - 60))
        self._body.verticalScrollBar().setValue(place)
