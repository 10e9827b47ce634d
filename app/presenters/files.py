"""The Files tab: MEMORY.md and its kin as they are on disk, with every change."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Refresher, Report, Tasks
from core.changes import Changes
from core.model import MemoryFile


class FilesView(Protocol):
    """What the tab must be able to show."""

    def show_files(self, files: Sequence[MemoryFile], now: float, /) -> None: ...
    def show_message(self, text: str, /) -> None: ...


class FilesEngine(Protocol):
    """What the tab needs of `engine.files`."""

    async def load(self) -> tuple[MemoryFile, ...]: ...
    async def undo(self, change_id: int) -> str: ...


class FilesPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(self, engine: FilesEngine, view: FilesView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = Refresher(self._tasks, self._reload)
        self._visible = False

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; the files are read again each time, for other editors exist."""
        self._visible = visible
        if visible:
            self._refresher.request()

    def on_changes(self, changes: Changes) -> None:
        """Reload if a file changed."""
        if self._visible and (changes.files or changes.everything):
            self._refresher.request()

    def refresh(self) -> None:
        """Something else may have written a file."""
        if self._visible:
            self._refresher.request()

    def undo(self, change_id: int) -> None:
        """Take one recorded change back; what came after it stays where it can."""
        self._tasks.start(self._undo(change_id), self._view.show_message)

    async def _undo(self, change_id: int) -> None:
        self._view.show_message(await self._engine.undo(change_id))
        await self._reload()

    async def _reload(self) -> None:
        self._view.show_files(await self._engine.load(), self._clock())
