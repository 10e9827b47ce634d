"""The Memory tab: the newest Working Memory live, or an older version of it."""

from collections.abc import Callable
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import Conversation, SessionId, WorkingMemory


class MemoryView(Protocol):
    """What the tab must be able to show."""

    def show_memory(self, memory: WorkingMemory | None, now: float, /) -> None: ...
    def set_remember(self, remember: bool, /) -> None: ...
    def set_updating(self, updating: bool, /) -> None: ...
    def show_message(self, text: str, /) -> None: ...


class MemoryEngine(Protocol):
    """`engine.memory`: the slice that the tab needs."""

    async def load(self, session_id: SessionId, version: int | None = None) -> WorkingMemory: ...
    async def commit(self, session_id: SessionId) -> bool: ...


class MemoryPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(self, engine: MemoryEngine, view: MemoryView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=True)
        self._session: SessionId | None = None
        self._version: int | None = None  # None: the newest, live
        self._memory: WorkingMemory | None = None

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show the memory of a conversation."""
        self._view.set_remember(conversation is None or conversation.remember)
        session = conversation.id if conversation else None
        if session == self._session:
            return
        self._session, self._version = session, None
        if session is None:
            self._memory = None
            self._view.show_memory(None, self._clock())
        else:
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the open conversation's memory changed."""
        if self._session is not None and (self._session in changes.memory or changes.everything):
            self._refresher.request()

    def tick(self) -> None:
        """Time has passed: "2 min ago" may read "3 min ago" now."""
        if self._refresher.visible and self._memory is not None:
            self._view.show_memory(self._memory, self._clock())

    def choose_version(self, version: int) -> None:
        """Show an older version; the newest is live again."""
        newest = self._memory.newest if self._memory else 0
        self._version = None if version >= newest else version
        self._refresher.request()

    def update_now(self) -> None:
        """Fold what is pending into a new version."""
        if self._session is not None:
            self._tasks.start(self._update(self._session))

    async def _update(self, session: SessionId) -> None:
        self._view.set_updating(True)
        try:
            changed = await self._engine.commit(session)
        finally:
            self._view.set_updating(False)
        self._version = None
        self._view.show_message("" if changed else "Nothing new to take in: memory is up to date.")
        await self._reload()

    async def _reload(self) -> None:
        session, version = self._session, self._version
        if session is None:
            return
        memory = await self._engine.load(session, version)
        if (session, version) == (self._session, self._version):
            self._memory = memory
            self._view.show_memory(memory, self._clock())
