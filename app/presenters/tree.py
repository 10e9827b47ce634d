"""The memory tree in the Segments tab: a view's top, and each branch as it is opened."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import TreeItem, TreeView


class TreePaneView(Protocol):
    """What the pane must be able to show."""

    def show_top(self, items: Sequence[TreeItem], now: float, /) -> None: ...
    def show_below(self, ref: str, items: Sequence[TreeItem], /) -> None: ...


class TreeEngine(Protocol):
    """The slice of the engine that the tree needs."""

    async def load(self, view: TreeView) -> tuple[TreeItem, ...]: ...
    async def open(self, ref: str) -> tuple[TreeItem, ...]: ...


class TreePresenter:
    """Reloads only while the tree is on screen."""

    def __init__(self, engine: TreeEngine, view: TreePaneView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._chosen = TreeView.CONVERSATION
        self._refresher.request()  # as soon as it is on screen

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the tree is on screen."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload when segments changed: their parts are in the tree."""
        if changes.segments or changes.everything or changes.conversations:
            self._refresher.request()

    def choose(self, view: str) -> None:
        """Look at the tree in another way."""
        self._chosen = TreeView(view)
        self._refresher.request()

    def open(self, ref: str) -> None:
        """Load what lies below a branch."""
        self._tasks.start(self._open(ref))

    async def _reload(self) -> None:
        chosen = self._chosen
        items = await self._engine.load(chosen)
        if chosen is self._chosen:
            self._view.show_top(items, self._clock())

    async def _open(self, ref: str) -> None:
        self._view.show_below(ref, await self._engine.open(ref))
