"""One model of the Models page: what it is, whether it fits, what its exam said, and what can be done with it."""

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.rendering.model_rows import ACT_TIPS, HERE, ModelAct, ModelRow, act_words
from app.theme import Look
from app.views.base import Scroll, make_button, make_label, set_property

EMPTY = (
    "No models yet. Drop a .gguf file here, or press “Add a file…”. Keepsake can also use models that other "
    "programs on this computer hold, and fetch those of its list."
)
MAIN_ACTS = (ModelAct.CHAT, ModelAct.CHAT_SMALLER, ModelAct.SEARCH, ModelAct.TAKE_CHAT, ModelAct.DOWNLOAD)


class ModelDetails(QWidget):
    """Shows a row; buttons stay the same objects, so that the focus does not jump while numbers change."""

    acted = Signal(str, ModelAct)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._row: ModelRow | None = None
        self._acts: tuple[ModelAct, ...] = ()
        self._title = make_label("", "title", wrap=True)
        self._title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._mark = make_label("", "kept")
        self._wrong = make_label("", "error", wrap=True)
        self._working = make_label("", "muted", wrap=True)
        self._bar = QProgressBar(textVisible=False, maximum=1000)
        self._button_box = QWidget()
        self._buttons = {act: self._make_button(act) for act in ModelAct}
        self._button_grid = QGridLayout(self._button_box)
        self._button_grid.setContentsMargins(0, 0, 0, 0)
        self._fact_box = QWidget()
        self._fact_grid = QGridLayout(self._fact_box)
        self._fact_grid.setContentsMargins(0, 0, 0, 0)
        self._fact_grid.setColumnStretch(1, 1)
        self._facts: list[tuple[QLabel, QLabel]] = []
        self._empty = make_label(EMPTY, "lead", wrap=True)
        self.area = Scroll(look, margins=20, spacing=12)
        self.area.setAccessibleName("About the selected model")
        for widget in (
            self._title, self._mark, self._wrong, self._working, self._bar, self._button_box, self._fact_box,
            self._empty,
        ):  # fmt: skip
            self.area.column.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_row(None)

    def show_row(self, row: ModelRow | None) -> None:
        """Show a model; None: the empty state."""
        self._row = row
        for widget in (self._title, self._button_box, self._fact_box):
            widget.setVisible(row is not None)
        self._empty.setVisible(row is None)
        self._show_text(self._title, row.title if row else "")
        used = row is not None and row.group == HERE and row.mark
        self._show_text(self._mark, f"In use for {row.mark}" if row and used else "")
        wrong = (row.problem, row.error) if row else ()
        self._show_text(self._wrong, "\n".join(text for text in wrong if text))
        work = row.work if row else None
        self._show_text(self._working, work.words if work else "")
        self._bar.setVisible(work is not None and work.share is not None)
        if work is not None and work.share is not None:
            self._bar.setValue(round(work.share * 1000))
            self._bar.setAccessibleName(f"{work.share:.0%} of the download")
        self._show_acts(row)
        self._show_facts(row)
        self.area.fit()

    def buttons(self) -> dict[ModelAct, QPushButton]:
        """The buttons on screen."""
        return {act: self._buttons[act] for act in self._acts}

    def _show_acts(self, row: ModelRow | None) -> None:
        acts = tuple(dict.fromkeys(row.acts)) if row else ()
        for place, act in enumerate(acts):
            self._buttons[act].setText(act_words(act, row) if row else "")
            set_property(self._buttons[act], "kind", "send" if place == 0 and act in MAIN_ACTS else "small")
        if acts != self._acts:
            self._swap_acts(acts)
        self._place_acts()

    def _swap_acts(self, acts: tuple[ModelAct, ...]) -> None:
        focus = self.window().focusWidget()  # also of a window that is not in front
        focused = next((act for act in self._acts if self._buttons[act] is focus), None)
        self._acts = acts
        for act, button in self._buttons.items():
            button.setVisible(act in acts)
        for before, after in pairwise(acts):
            QWidget.setTabOrder(self._buttons[before], self._buttons[after])
        if focused is not None and focused not in acts and acts:
            self._buttons[acts[0]].setFocus()

    def _place_acts(self) -> None:
        """Lay the buttons out in as many columns as there is room for."""
        buttons = [self._buttons[act] for act in self._acts]
        room = self.area.viewport().width() - self._look.px(48)
        widths = [button.sizeHint().width() + self._look.px(8) for button in buttons]
        columns = next((n for n in (4, 3, 2) if sum(max(widths[i::n], default=0) for i in range(n)) <= room), 1)
        for button in self._buttons.values():
            self._button_grid.removeWidget(button)
        for column in range(5):
            self._button_grid.setColumnStretch(column, int(column == columns))
        for place, button in enumerate(buttons):
            self._button_grid.addWidget(button, place // columns, place % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_acts()

    def _show_facts(self, row: ModelRow | None) -> None:
        facts = row.facts if row else ()
        if row and row.fit:
            facts = (*facts[:3], ("Memory needed", row.fit), *facts[3:])
        while len(self._facts) < len(facts):
            name, text = make_label("", "muted"), make_label("", "line", wrap=True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            self._fact_grid.addWidget(name, len(self._facts), 0, Qt.AlignmentFlag.AlignTop)
            self._fact_grid.addWidget(text, len(self._facts), 1)
            self._facts.append((name, text))
        for i, (name, text) in enumerate(self._facts):
            shown = i < len(facts)
            name.setVisible(shown)
            text.setVisible(shown)
            if shown:
                name.setText(facts[i][0])
                text.setText(breakable(facts[i][1]) if facts[i][0] == "File" else facts[i][1])
                text.setAccessibleName(f"{facts[i][0]}: {facts[i][1]}")
                tight = bool(row and row.tight and facts[i][0] == "Memory needed")
                set_property(text, "kind", "warning" if tight else "line")

    @staticmethod
    def _show_text(label: QLabel, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))

    def _make_button(self, act: ModelAct) -> QPushButton:
        button = make_button("", "small", lambda: self._on_act(act))
        button.setParent(self._button_box)
        button.setToolTip(ACT_TIPS.get(act, ""))
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.hide()
        return button

    def _on_act(self, act: ModelAct) -> None:
        if self._row is not None:
            self.acted.emit(self._row.key, act)

    def _on_look(self) -> None:
        px = self._look.px
        self.area.column.setContentsMargins(px(20), px(16), px(20), px(16))
        self.area.column.setSpacing(px(10))
        self._button_grid.setSpacing(px(8))
        self._fact_grid.setHorizontalSpacing(px(16))
        self._fact_grid.setVerticalSpacing(px(7))
        self._bar.setFixedHeight(px(6))


def breakable(path: str) -> str:
    """A path that may be broken into lines after its separators (a zero-width space stands there)."""
    return path.replace("/", "/\u200b").replace("\\", "\\\u200b")
