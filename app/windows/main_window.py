"""The main window: three panes, menus, status line. Composes views and remembers its own shape; no logic."""

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.theme import Look, ThemeMode, bounded_zoom
from app.views.activity import ActivityTab
from app.views.base import make_named
from app.views.chat import ChatPane
from app.views.files import FilesTab
from app.views.inspector import Inspector
from app.views.memory import MemoryTab
from app.views.notice import Notice
from app.views.profile import ProfileTab
from app.views.prompt import PromptTab
from app.views.segments import SegmentsTab
from app.views.sidebar import Sidebar
from app.views.statusbar import StatusBar
from app.views.toast import Toast
from app.windows.menus import Menus

LEFT, CENTRE, RIGHT = 264, 744, 432  # design pixels, the widths of the panes
ZOOM_PAUSE_MS = 40  # a held key repeats faster than the window can be dressed
LEFT_MIN, CENTRE_MIN, RIGHT_MIN = 190, 340, 300


class MainWindow(QMainWindow):
    """Everything the user sees. `closed` comes once, when the window is gone from the screen."""

    closed = Signal()
    painted = Signal()

    def __init__(self, look: Look, state: QSettings) -> None:
        super().__init__()
        self.look = self._look = look
        self.data_folder = ""
        self._state = state
        self._was_painted = False
        self._wanted = {"left": True, "right": True}
        self._zoom = look.zoom_percent
        self._zoom_timer = QTimer(self, interval=ZOOM_PAUSE_MS, singleShot=True)
        self._zoom_timer.timeout.connect(self._apply_zoom)
        self.setWindowTitle("Keepsake")
        self.sidebar = Sidebar(look)
        self.chat = ChatPane(look)
        self.inspector = Inspector(look)
        self.memory = MemoryTab(look)
        self.segments = SegmentsTab(look)
        self.files = FilesTab(look)
        self.profile = ProfileTab(look)
        self.prompt = PromptTab(look)
        pages = (
            ("Memory", self.memory),
            ("Segments", self.segments),
            ("Files", self.files),
            ("Profile", self.profile),
            ("Prompt", self.prompt),
        )
        for name, page in pages:
            self.inspector.add_tab(name, page)
        self.activity = ActivityTab(look)
        self.inspector.add_tab("Activity", self.activity)
        self.status_line = StatusBar(look)
        self.notice = Notice(look)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        for pane in (self.sidebar, self.chat, self.inspector):
            self.splitter.addWidget(pane)
        self.splitter.setStretchFactor(1, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.splitter)
        self._pages.addWidget(self.notice)
        centre = make_named("centre")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._pages, 1)
        column.addWidget(self.status_line)
        self.setCentralWidget(centre)
        self.toast = Toast(look, self.chat)
        self.menus = Menus(self)
        look.changed.connect(self._on_look)
        self._on_look()
        self._restore()
        self.chat.composer.entry.setFocus()

    # -- what is shown ---------------------------------------------------------------------------

    def show_notice(self, headline: str, text: str) -> None:
        """Put a message in the window's place."""
        self.notice.show_text(headline, text)
        self._pages.setCurrentWidget(self.notice)
        self.notice.retry.setFocus()

    def hide_notice(self) -> None:
        """Show the panes again."""
        self._pages.setCurrentWidget(self.splitter)

    def raise_up(self) -> None:
        """Bring the window to the front."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def is_pane_shown(self, side: str) -> bool:
        """Whether the left or right pane is on screen."""
        return (self.sidebar if side == "left" else self.inspector).isVisible()

    def toggle_pane(self, side: str) -> None:
        """Hide or show the left or right pane; where two have no room, the one asked for takes the other's."""
        self._wanted[side] = not self.is_pane_shown(side)
        if not self._wanted[side]:
            (self.sidebar if side == "left" else self.inspector).hide()
            return
        least = self._look.px(CENTRE_MIN + (LEFT_MIN if side == "left" else RIGHT_MIN)) + 2
        if self.width() < least:
            self.resize(least, self.height())
        room_for_both = self.width() >= self._look.px(CENTRE_MIN + LEFT_MIN + RIGHT_MIN)
        self.sidebar.setVisible(side == "left" or (self._wanted["left"] and room_for_both))
        self.inspector.setVisible(side == "right" or (self._wanted["right"] and room_for_both))
        self._share_widths()

    def cycle_panes(self, step: int = 1) -> None:
        """Move the focus to the next pane: list, messages, composer, inspector."""
        stops: list[QWidget] = [self.sidebar.list, self.chat.transcript, self.chat.composer.entry, self.inspector]
        stops = [stop for stop in stops if stop.isVisible()]
        at = next((i for i, stop in enumerate(stops) if stop.isAncestorOf(self.focusWidget() or self)), -1)
        at = next((i for i, stop in enumerate(stops) if stop.hasFocus()), at)
        target = stops[(at + step) % len(stops)]
        if target is self.inspector:
            self.inspector.focus_tab()
        else:
            target.setFocus(Qt.FocusReason.TabFocusReason)

    def show_tab(self, name: str) -> None:
        """Bring a tab of the right pane to the front, and the pane on screen."""
        self.inspector.show_tab(name)
        if not self.inspector.isVisible():
            self.toggle_pane("right")

    def theme_mode(self) -> ThemeMode:
        """The theme that was chosen."""
        return self._look.mode

    def set_theme(self, mode: ThemeMode) -> None:
        """Choose light, dark or the system's."""
        self._look.apply(mode=mode)

    def zoom(self, step_percent: int | None) -> None:
        """Make everything larger or smaller; None: back to 100 %. Steps in quick succession are taken at once."""
        self._zoom = 100 if step_percent is None else bounded_zoom(self._zoom + step_percent)
        self._zoom_timer.start()

    def _apply_zoom(self) -> None:
        if self._zoom != self._look.zoom_percent:
            self._look.apply(zoom_percent=self._zoom)

    # -- its shape -------------------------------------------------------------------------------

    def save_shape(self) -> None:
        """Keep size, panes, theme and zoom for the next start."""
        self._state.setValue("geometry", self.saveGeometry())
        self._state.setValue("widths", self.splitter.saveState())
        self._state.setValue("theme", self._look.mode.value)
        self._state.setValue("zoom", self._look.zoom_percent)
        self._state.setValue("left", int(self._wanted["left"]))
        self._state.setValue("right", int(self._wanted["right"]))
        self._state.sync()

    def _restore(self) -> None:
        px, state = self._look.px, self._state
        screen = QGuiApplication.primaryScreen().availableSize()
        size = QSize(px(LEFT + CENTRE + RIGHT), px(900)).boundedTo(screen)
        self.resize(size)
        geometry, widths = state.value("geometry"), state.value("widths")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        self.splitter.setSizes([px(LEFT), max(px(CENTRE_MIN), self.width() - px(LEFT + RIGHT)), px(RIGHT)])
        if isinstance(widths, QByteArray):
            self.splitter.restoreState(widths)
            self.splitter.setHandleWidth(1)
        for side in self._wanted:
            self._wanted[side] = str(state.value(side, "1")) != "0"
        self._fit_panes()

    def _fit_panes(self) -> None:
        """A narrow window shows fewer panes: the chat stays, then the memory, then the list."""
        px, width = self._look.px, self.width()
        right = self._wanted["right"] and width >= px(CENTRE_MIN + RIGHT_MIN)
        left = self._wanted["left"] and width >= px(CENTRE_MIN + LEFT_MIN) + (px(RIGHT_MIN) if right else 0)
        self.sidebar.setVisible(left)
        self.inspector.setVisible(right)

    def _share_widths(self) -> None:
        px = self._look.px
        left = px(LEFT) if self.sidebar.isVisible() else 0
        right = px(RIGHT) if self.inspector.isVisible() else 0
        self.splitter.setSizes([left, max(px(CENTRE_MIN), self.width() - left - right), right])

    def _on_look(self) -> None:
        px = self._look.px
        self.sidebar.setMinimumWidth(px(LEFT_MIN))
        self.chat.setMinimumWidth(px(CENTRE_MIN))
        self.inspector.setMinimumWidth(px(RIGHT_MIN))
        self.setMinimumSize(px(CENTRE_MIN) + 2, px(320))
        if self._was_painted:
            self._fit_panes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit_panes()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.save_shape()
        event.accept()
        self.closed.emit()
