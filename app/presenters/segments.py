"""The Segments tab: the stretches of the open conversation, newest first."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import Conversation, Segment, SessionId


class SegmentsView(Protocol):
    """What the tab must be able to show."""

    def show_segments(self, segments: Sequence[Segment], now: float, /) -> None: ...


class SegmentsEngine(Protocol):
    """The slice of the engine that the tab needs."""

    async def load(self, session_id: SessionId) -> tuple[Segment, ...]: ...


class SegmentsPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(
        self, engine: SegmentsEngine, view: SegmentsView, *, report: Report, clock: Callable[[], float]
    ) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._session: SessionId | None = None

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show the segments of a conversation."""
        session = conversation.id if conversation else None
        if session != self._session:
            self._session = session
            self._view.show_segments((), self._clock())
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the open conversation's segments changed."""
        if self._session is not None and (self._session in changes.segments or changes.everything):
            self._refresher.request()

    async def _reload(self) -> None:
        if (session := self._session) is None:
            return
        segments = await self._engine.load(session)
        if session == self._session:
            self._view.show_segments(tuple(reversed(segments)), self._clock())
