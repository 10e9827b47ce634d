"""The right pane: tabs over what Keepsake keeps. A tab is added by `add_tab`; there is no other place."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.theme import Look
from app.views.base import make_button, make_named, set_property


class Inspector(QWidget):
    """A row of tab buttons over a stack of pages."""

    tab_changed = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("inspector")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._bar = make_named("tabs")
        self._bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self._bar)
        self._row.addStretch(1)
        self._group = QButtonGroup(self)
        self._pages = QStackedWidget()
        self._names: list[str] = []
        self._natural = 0  # width of the tabs where they have room
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self._pages, 1)
        self._group.idClicked.connect(self._on_clicked)
        look.changed.connect(self._on_look)
        self._on_look()

    def add_tab(self, name: str, page: QWidget) -> None:
        """Add a tab at the end."""
        button = make_button(name, "tab")
        button.setCheckable(True)
        button.setAccessibleDescription("tab")
        self._group.addButton(button, len(self._names))
        self._row.insertWidget(len(self._names), button)
        self._pages.addWidget(page)
        self._names.append(name)
        if len(self._names) == 1:
            button.setChecked(True)

    def current(self) -> str:
        """The name of the tab on screen."""
        return self._names[self._pages.currentIndex()]

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front."""
        at = self._names.index(name)
        button = self._group.button(at)
        if isinstance(button, QPushButton):
            button.setChecked(True)
        self._on_clicked(at)

    def focus_tab(self) -> None:
        """Give the focus to the tab on screen."""
        self._group.button(self._pages.currentIndex()).setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        focused = self.focusWidget()
        if step and focused in self._group.buttons():
            at = (self._pages.currentIndex() + step) % len(self._names)
            self.show_tab(self._names[at])
            self._group.button(at).setFocus()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_tabs()

    def _fit_tabs(self) -> None:
        """Where the tabs have no room side by side they stand closer, in smaller type."""
        buttons = self._group.buttons()
        if any(button.property("tight") != "true" for button in buttons):
            self._natural = sum(button.sizeHint().width() for button in buttons)
        px = self._look.px
        tight = self._natural + px(24) + px(2) * len(buttons) > self.width()
        for button in buttons:
            set_property(button, "tight", "true" if tight else "false")
        side = px(4 if tight else 12)
        self._row.setContentsMargins(side, px(6), side, 0)
        self._row.setSpacing(0 if tight else px(2))

    def _on_clicked(self, at: int) -> None:
        if at != self._pages.currentIndex():
            self._pages.setCurrentIndex(at)
            self.tab_changed.emit(self._names[at])

    def _on_look(self) -> None:
        for button in self._group.buttons():
            set_property(button, "tight", "false")
        self._fit_tabs()
