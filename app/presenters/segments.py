"""The Segments tab: the stretches of the open conversation, newest first, and what the user does with them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import Conversation, Segment, SegmentId, SessionId, SplitTurn, TurnId


class SegmentsView(Protocol):
    """What the tab must be able to show."""

    def show_segments(self, segments: Sequence[Segment], now: float, /) -> None: ...
    def offer_turns(self, segment_id: SegmentId, turns: Sequence[SplitTurn], /) -> None: ...


class SegmentsEngine(Protocol):
    """The slice of the engine that the tab needs."""

    async def load(self, session_id: SessionId) -> tuple[Segment, ...]: ...
    async def list_turns(self, segment_id: SegmentId) -> tuple[SplitTurn, ...]: ...
    async def recap_again(self, segment_id: SegmentId) -> str: ...
    async def merge(self, segment_id: SegmentId) -> int: ...
    async def split(self, segment_id: SegmentId, turn: TurnId) -> int: ...
    async def rename(self, segment_id: SegmentId, title: str) -> int: ...
    async def undo(self, edit_id: int) -> str: ...
    def show(self, session_id: SessionId | None) -> None: ...


class SegmentsPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(
        self,
        engine: SegmentsEngine,
        view: SegmentsView,
        *,
        report: Report,
        offer_undo: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`offer_undo` shows a text with a way back, which calls `undo`."""
        self._engine = engine
        self._view = view
        self._report = report
        self._offer_undo = offer_undo
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._session: SessionId | None = None
        self._last_edit: int | None = None

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show the segments of a conversation."""
        session = conversation.id if conversation else None
        if session != self._session:
            self._session = session
            self._engine.show(session)
            self._view.show_segments((), self._clock())
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the open conversation's segments changed."""
        if self._session is not None and (self._session in changes.segments or changes.everything):
            self._refresher.request()

    def recap_again(self, segment_id: str) -> None:
        """Sum a segment up again; what stands in its way is said."""
        self._tasks.start(self._recap_again(SegmentId(segment_id)))

    def merge(self, segment_id: str) -> None:
        """Join a segment with the one before it."""
        self._tasks.start(self._edit(self._engine.merge(SegmentId(segment_id)), "Two segments are one now."))

    def split(self, segment_id: str, turn: int) -> None:
        """Let a new segment begin at a turn."""
        work = self._engine.split(SegmentId(segment_id), TurnId(turn))
        self._tasks.start(self._edit(work, "A new segment begins there."))

    def rename(self, segment_id: str, title: str) -> None:
        """Name a segment; a blank name gives it back to the program."""
        text = "Segment renamed." if title.strip() else "Keepsake names this segment again."
        self._tasks.start(self._edit(self._engine.rename(SegmentId(segment_id), title), text))

    def ask_where_to_split(self, segment_id: str) -> None:
        """Show the turns of a segment to choose from."""
        self._tasks.start(self._offer_turns(SegmentId(segment_id)))

    def undo(self) -> None:
        """Take the last merge, split or name back."""
        edit, self._last_edit = self._last_edit, None
        if edit is not None:
            self._tasks.start(self._undo(edit))

    async def _offer_turns(self, segment_id: SegmentId) -> None:
        turns = await self._engine.list_turns(segment_id)
        self._view.offer_turns(segment_id, turns)

    async def _recap_again(self, segment_id: SegmentId) -> None:
        self._report("Summing up again …")
        problem = await self._engine.recap_again(segment_id)
        self._report(problem or "The recap is there.")
        self._refresher.request()

    async def _edit(self, work: Coroutine[object, object, int], text: str) -> None:
        self._last_edit = await work
        self._offer_undo(text)
        self._refresher.request()

    async def _undo(self, edit: int) -> None:
        note = await self._engine.undo(edit)
        self._report(note or "Taken back.")
        self._refresher.request()

    async def _reload(self) -> None:
        if (session := self._session) is None:
            return
        segments = await self._engine.load(session)
        if session == self._session:
            self._view.show_segments(tuple(reversed(segments)), self._clock())
