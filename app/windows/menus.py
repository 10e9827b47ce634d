"""The menu bar: every command with its shortcut. Commands that need the engine are signals."""

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from app.theme import ThemeMode
from app.windows.sheet import ShortcutSheet

if TYPE_CHECKING:
    from app.windows.main_window import MainWindow

ZOOM_STEP = 10
_TYPED = [
    ("Send the message", "Enter"),
    ("New line in the message", "Shift+Enter"),
    ("Memory: edit, keep or bring back the selected line", "Enter"),
    ("Memory: remove, discard or let go", "Delete"),
    ("Memory: lock, move, new line, go to its turn", "L, M, N, G"),
    ("Memory: undo, redo", "Ctrl+Z, Ctrl+Y"),
]
_Keys = QKeySequence.StandardKey | str | list[str]


class Menus(QObject):
    """Builds the menus and keeps their actions."""

    new_requested = Signal()
    undo_delete_requested = Signal()
    stop_requested = Signal()
    copy_reply_requested = Signal()
    update_memory_requested = Signal()
    compact_requested = Signal()
    remember_requested = Signal()
    undo_memory_requested = Signal()
    open_folder_requested = Signal()
    settings_requested = Signal()
    models_requested = Signal()
    answers_requested = Signal()

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._sheet: ShortcutSheet | None = None
        self.actions: list[QAction] = []
        self._build_file(window)
        self._build_chat(window)
        self._build_view(window)
        self._build_help(window)

    def _build_file(self, window: "MainWindow") -> None:
        menu = window.menuBar().addMenu("&File")
        self._add(menu, "New conversation", self.new_requested.emit, QKeySequence.StandardKey.New)
        menu.addSeparator()
        self._add(menu, "Models…", self.models_requested.emit, "Ctrl+M")
        self._add(menu, "Open the data folder", self.open_folder_requested.emit)
        settings = self._add(menu, "Settings…", self.settings_requested.emit, "Ctrl+,")
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        menu.addSeparator()
        self._add(menu, "Close window", window.close, QKeySequence.StandardKey.Close)
        quit_action = self._add(menu, "Quit", window.close, "Ctrl+Q")
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)

    def _build_chat(self, window: "MainWindow") -> None:
        menu = window.menuBar().addMenu("&Conversation")
        self._add(menu, "Rename", window.sidebar.rename_current, "F2")
        self._add(menu, "Pin or unpin", window.sidebar.pin_current, "Ctrl+Shift+P")
        self._add(menu, "Delete", window.sidebar.delete_current, "Ctrl+Shift+Backspace")
        self._add(menu, "Bring back the last one deleted", self.undo_delete_requested.emit, "Ctrl+Alt+Z")
        menu.addSeparator()
        self._add(menu, "Stop the reply", self.stop_requested.emit, "Esc")
        self._add(menu, "Copy the last reply", self.copy_reply_requested.emit, "Ctrl+Shift+C")
        self._add(menu, "Answers in this conversation…", self.answers_requested.emit, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, "Remember my last message", self.remember_requested.emit, "Ctrl+Shift+M")
        self._add(menu, "Undo my last change of memory", self.undo_memory_requested.emit, "Ctrl+Alt+U")
        self._add(menu, "Update memory now", self.update_memory_requested.emit, "Ctrl+Shift+U")
        self._add(menu, "Compact this conversation…", self.compact_requested.emit)

    def _build_view(self, window: "MainWindow") -> None:
        menu = window.menuBar().addMenu("&View")
        panes = {
            "left": self._add(menu, "Show the conversation list", lambda: window.toggle_pane("left"), "F9"),
            "right": self._add(menu, "Show the memory pane", lambda: window.toggle_pane("right"), "Shift+F9"),
        }
        for side, action in panes.items():
            action.setCheckable(True)
            menu.aboutToShow.connect(lambda side=side, action=action: action.setChecked(window.is_pane_shown(side)))
        self._add(menu, "Next pane", window.cycle_panes, "F6")
        self._add(menu, "Previous pane", lambda: window.cycle_panes(-1), "Shift+F6")
        menu.addSeparator()
        for i, name in enumerate(("Memory", "Segments", "Files", "Profile", "Prompt", "Activity"), start=1):
            self._add(menu, f"{name} tab", partial(window.show_tab, name), f"Ctrl+{i}")
        menu.addSeparator()
        self._add(menu, "Larger", lambda: window.zoom(ZOOM_STEP), ["Ctrl++", "Ctrl+="])
        self._add(menu, "Smaller", lambda: window.zoom(-ZOOM_STEP), "Ctrl+-")
        self._add(menu, "Normal size", lambda: window.zoom(None), "Ctrl+0")
        menu.addSeparator()
        theme = menu.addMenu("Theme")
        group = QActionGroup(self)
        for mode in ThemeMode:
            action = self._add(theme, mode.value.capitalize(), partial(window.set_theme, mode))
            action.setCheckable(True)
            action.setChecked(window.theme_mode() is mode)
            group.addAction(action)

    def _build_help(self, window: "MainWindow") -> None:
        menu = window.menuBar().addMenu("&Help")
        self._add(menu, "Keyboard shortcuts", self.show_sheet, ["F1", "Ctrl+?"])
        about = self._add(menu, "About Keepsake", self.show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def show_sheet(self) -> None:
        """Open the list of shortcuts."""
        self._open("Keyboard shortcuts", _TYPED + [(a.text(), _keys_of(a)) for a in self.actions if a.shortcuts()])

    def show_about(self) -> None:
        """Say what this is."""
        self._open("About Keepsake", window_facts(self._window))

    def _open(self, title: str, rows: list[tuple[str, str]]) -> None:
        if self._sheet is not None:
            self._sheet.close()
        self._sheet = ShortcutSheet(self._window, self._window.look, title, rows)
        self._sheet.finished.connect(self._forget_sheet)
        self._sheet.open()

    def _forget_sheet(self) -> None:
        self._sheet = None

    def _add(self, menu: QMenu, text: str, act: Callable[[], object], keys: _Keys | None = None) -> QAction:
        action = QAction(text, self._window)
        if isinstance(keys, QKeySequence.StandardKey):
            action.setShortcuts(keys)
        elif keys is not None:
            action.setShortcuts([QKeySequence(k) for k in ([keys] if isinstance(keys, str) else keys)])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False: act())
        menu.addAction(action)
        self.actions.append(action)
        return action


def _keys_of(action: QAction) -> str:
    keys = [k.toString(QKeySequence.SequenceFormat.NativeText) for k in action.shortcuts()]
    # Standard keys bring the named keys of old keyboards along ("New"); nobody looks for those.
    return "  ".join([k for k in keys if "+" in k or re.fullmatch(r"F\d+|Esc", k)][:2])


def window_facts(window: "MainWindow") -> list[tuple[str, str]]:
    """What a bug report needs to know about the window."""
    from PySide6.QtCore import qVersion
    from PySide6.QtGui import QGuiApplication

    return [
        ("Keepsake", "0.1.0, a chat that shows what it remembers"),
        ("Data folder", window.data_folder or "not open"),
        ("Qt", f"{qVersion()} on {QGuiApplication.platformName()}"),
        ("Font", window.font().family()),
        ("Network", "used for a download or a server that you chose, else never"),
    ]
