"""The buttons under the list: what can be done with the selected line, for those who use no keys and no menu."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.rendering.display import one_line
from app.rendering.memory_rows import LABELS, Act, Row
from app.theme import Look
from app.views.base import ElidedLabel, make_button

SHOWN = (
    Act.EDIT, Act.LOCK, Act.UNLOCK, Act.MOVE, Act.REMOVE, Act.KEEP, Act.DISCARD, Act.BRING_BACK, Act.DROP, Act.TAKE,
    Act.DISMISS, Act.PUT_BACK,
)  # fmt: skip


class ActionBar(QWidget):
    """Shows the selected line's commands as buttons; hidden where there are none."""

    chosen = Signal(Act)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._name = ElidedLabel("", "muted")
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._name, 1)
        self.buttons = {act: self._make(act) for act in SHOWN}
        for button in self.buttons.values():
            self._row.addWidget(button)
        self.restyle()
        self.show_row(None)

    def _make(self, act: Act) -> QPushButton:
        label, key = LABELS[act]
        return make_button(label, "small", lambda: self.chosen.emit(act), tip=f"{label} ({key})")

    def show_row(self, row: Row | None) -> None:
        """Show what can be done with a row."""
        acts = row.acts if row is not None else ()
        text = one_line(row.text, 80) if row is not None else ""
        for act, button in self.buttons.items():
            button.setVisible(act in acts)
            if act in acts:
                button.setAccessibleName(f"{LABELS[act][0]}: {text}")
        self._name.set_whole(text)
        self.setVisible(any(act in acts for act in SHOWN))

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        px = self._look.px
        self._row.setContentsMargins(px(14), px(6), px(12), px(6))
        self._row.setSpacing(px(6))
