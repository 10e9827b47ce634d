"""The window of the Models page: not modal, so that the chat goes on beside it."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QVBoxLayout, QWidget

from app.theme import Look
from app.views.models import ModelsPage
from app.windows.dropping import FileDrop

WIDTH, HEIGHT = 900, 640  # design pixels
MIN_WIDTH, MIN_HEIGHT = 680, 420


class ModelsWindow(QDialog):
    """Shows the page; `shown` says whether it is on screen, `files_given` which files were dropped or picked."""

    shown = Signal(bool)
    files_given = Signal(list)

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        self._look = look
        self.setWindowTitle("Models · Keepsake")
        self.setWindowModality(Qt.WindowModality.NonModal)
        self.page = ModelsPage(look)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.page)
        self.drop = FileDrop(self, self, self.page.list.viewport(), takes=lambda _path: True)
        self.drop.hovering.connect(self.page.set_dropping)
        self.drop.dropped.connect(self.files_given)
        self.page.add_requested.connect(self.pick_files)
        QShortcut(QKeySequence.StandardKey.Open, self, self.pick_files)
        QShortcut(QKeySequence.StandardKey.Close, self, self.close)
        self._dialog: QFileDialog | None = None
        look.changed.connect(self._on_look)
        self._on_look()
        self.resize(look.px(WIDTH), look.px(HEIGHT))

    def open_up(self) -> None:
        """Show the window, or bring it to the front."""
        self.show()
        self.raise_()
        self.activateWindow()
        self.page.list.setFocus()

    def pick_files(self) -> None:
        """Let the user choose files; does not wait for it."""
        if self._dialog is not None:
            self._dialog.raise_()
            return
        dialog = self._dialog = QFileDialog(self, "Add model files", str(Path.home()), "Models (*.gguf);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._on_files)
        dialog.finished.connect(self._forget_dialog)
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.shown.emit(False)

    def _on_files(self, names: list[str]) -> None:
        self.files_given.emit([Path(name) for name in names])

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _on_look(self) -> None:
        self.setMinimumSize(self._look.px(MIN_WIDTH), self._look.px(MIN_HEIGHT))
