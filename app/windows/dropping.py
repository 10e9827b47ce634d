"""Files that are dragged onto a window: model files are taken, all else is left to what lies below."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

SUFFIX = ".gguf"


class FileDrop(QObject):
    """Watches widgets for dropped files. `hovering` says whether one is held above, `dropped` which were let go."""

    hovering = Signal(bool)
    dropped = Signal(list)

    def __init__(self, owner: QObject, *widgets: QWidget, takes: Callable[[Path], bool]) -> None:
        """`takes` says of each file whether it is wanted; text fields need their viewport named too."""
        super().__init__(owner)
        self._takes = takes
        for widget in widgets:
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent | QDragMoveEvent):
            return self._hold(event, entered=isinstance(event, QDragEnterEvent))
        if isinstance(event, QDragLeaveEvent):
            self.hovering.emit(False)
        elif isinstance(event, QDropEvent) and (paths := self._read(event.mimeData())):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.hovering.emit(False)
            self.dropped.emit(paths)
            return True
        return False

    def _hold(self, event: QDropEvent, *, entered: bool) -> bool:
        if not self._read(event.mimeData()):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if entered:
            self.hovering.emit(True)
        return True

    def _read(self, data: QMimeData) -> list[Path]:
        paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
        return [path for path in paths if self._takes(path)]


def is_model_file(path: Path) -> bool:
    """Whether a file's name is that of a model."""
    return path.suffix.lower() == SUFFIX
