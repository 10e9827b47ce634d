"""The Files tab: MEMORY.md and its kin as they are on disk, every change, and the user's own hand in them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import FileDone, FileEntry, GoalProposal, GoalsState, MemoryFile


class FilesView(Protocol):
    """What the tab must be able to show."""

    def show_files(self, files: Sequence[MemoryFile], now: float, /) -> None: ...
    def show_proposals(self, proposals: Sequence[GoalProposal], /) -> None: ...
    def show_message(self, text: str, /) -> None: ...
    def set_busy(self, busy: bool, /) -> None: ...
    def close_editors(self) -> None: ...


class FilesEngine(Protocol):
    """What the tab needs of `engine.files`."""

    async def load(self) -> tuple[MemoryFile, ...]: ...
    async def undo(self, change_id: int) -> str: ...
    async def remove_entry(self, file: str, entry: FileEntry) -> FileDone: ...
    async def change_entry(self, file: str, entry: FileEntry, words: str) -> FileDone: ...
    async def save(self, file: str, text: str, base: str) -> FileDone: ...


class GoalsEngine(Protocol):
    """What the tab needs of `engine.goals`."""

    async def load(self) -> GoalsState: ...
    async def take(self, proposal_id: int, *, retire: str = "") -> str: ...
    async def dismiss(self, proposal_id: int) -> None: ...


class FilesPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(
        self,
        engine: FilesEngine,
        goals: GoalsEngine,
        view: FilesView,
        *,
        report: Report,
        offer_undo: Report,
        clock: Callable[[], float],
    ) -> None:
        """`offer_undo` shows a text with a way back, which calls `undo_last`."""
        self._engine = engine
        self._goals = goals
        self._view = view
        self._offer_undo = offer_undo
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False, each_time=True)
        self._last: int | None = None  # the user's last change here
        self._busy = 0

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; the files are read again each time, for other editors exist."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if a file changed."""
        if changes.files or changes.everything:
            self._refresher.request()

    def refresh(self) -> None:
        """Something else may have written a file."""
        self._refresher.request()

    def undo(self, change_id: int) -> None:
        """Take one recorded change back; what came after it stays where it can."""
        self._start(self._undo(change_id))

    def undo_last(self) -> None:
        """Take the user's last change here back."""
        if self._last is not None:
            change_id, self._last = self._last, None
            self.undo(change_id)

    def remove_entry(self, file: str, entry: FileEntry) -> None:
        """Take an entry out; it can be brought back."""
        self._start(self._do(self._engine.remove_entry(file, entry), "Taken out."))

    def change_entry(self, file: str, entry: FileEntry, words: str) -> None:
        """Put other words in an entry's place."""
        self._start(self._do(self._engine.change_entry(file, entry, words), "Changed."))

    def save(self, file: str, text: str, base: str) -> None:
        """Save a whole text."""
        self._start(self._do(self._engine.save(file, text, base), "Saved."))

    def take_goal(self, proposal_id: int) -> None:
        """Do what a proposal about the goals says."""
        self._start(self._take_goal(proposal_id))

    def dismiss_goal(self, proposal_id: int) -> None:
        """Let a proposal go."""
        self._start(self._dismiss_goal(proposal_id))

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._tasks.start(self._be_busy(work), self._view.show_message)

    async def _be_busy(self, work: Coroutine[object, object, None]) -> None:
        self._busy += 1
        self._view.set_busy(True)
        try:
            await work
        finally:
            self._busy -= 1
            self._view.set_busy(self._busy > 0)

    async def _undo(self, change_id: int) -> None:
        self._view.show_message(await self._engine.undo(change_id))
        await self._reload()

    async def _do(self, work: Coroutine[object, object, FileDone], words: str) -> None:
        done = await work
        self._view.close_editors()
        self._view.show_message(done.note)
        if done.change_id is not None:
            self._last = done.change_id
            self._offer_undo(words)
        await self._reload()

    async def _take_goal(self, proposal_id: int) -> None:
        self._view.show_message(await self._goals.take(proposal_id))
        await self._reload()

    async def _dismiss_goal(self, proposal_id: int) -> None:
        await self._goals.dismiss(proposal_id)
        await self._reload()

    async def _reload(self) -> None:
        self._view.show_files(await self._engine.load(), self._clock())
        self._view.show_proposals((await self._goals.load()).proposals)
