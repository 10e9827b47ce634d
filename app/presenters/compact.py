"""Compacting the open conversation: progress, cancel, what came of it, and the retry of archives that were given up.

A compact goes on when another conversation is opened; its end is told there, too.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from app.rendering.display import one_line
from app.rendering.words_commits import STOPPING, result_words, step_words
from core.changes import Changes
from core.model import CommitStep, Compacted, Conversation, FailedArchive, SessionId

NONE_OPEN = "Open the conversation that is to be compacted first."


class CompactView(Protocol):
    """What the notice must be able to show."""

    def show_progress(self, text: str, /, *, can_cancel: bool) -> None: ...
    def show_result(self, text: str, /) -> None: ...
    def show_failed(self, failed: Sequence[FailedArchive], now: float, /) -> None: ...


class CommitsEngine(Protocol):
    """What the notice needs of `engine.commits`."""

    async def compact(
        self, session_id: SessionId, *, progress: Callable[[CommitStep], None], stop: asyncio.Event
    ) -> Compacted: ...
    async def list_failed(self, session_id: SessionId | None = None) -> tuple[FailedArchive, ...]: ...
    async def retry_all(self, session_id: SessionId | None = None) -> int: ...


class _Run:
    """A compact that runs."""

    def __init__(self, conversation: Conversation) -> None:
        self.title, self.remember = conversation.title, conversation.remember
        self.stop = asyncio.Event()
        self.step = CommitStep.ARCHIVING


class CompactPresenter:
    """One compact a conversation at a time."""

    def __init__(self, engine: CommitsEngine, view: CompactView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._report = report
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._refresh, visible=True)
        self._open: Conversation | None = None
        self._runs: dict[SessionId, _Run] = {}

    async def aclose(self) -> None:
        """End what runs: archives that are not finished are finished in the background, here or at the next start."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show how the archives of a conversation stand."""
        before, self._open = self._open, conversation
        if (before and before.id) == (conversation and conversation.id):
            return
        self._view.show_result("")
        self._view.show_failed((), self._clock())
        self._show_run()
        if conversation is not None:
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """An archive may have been given up or finished, here or in another process."""
        if self._open is not None and (changes.everything or changes.status or self._open.id in changes.memory):
            self._refresher.request()

    def compact(self) -> None:
        """Compact the open conversation."""
        if self._open is None:
            self._report(NONE_OPEN)
        elif self._open.id not in self._runs:
            run = self._runs[self._open.id] = _Run(self._open)
            self._view.show_result("")
            self._show_run()
            if self._tasks.start(self._compact(self._open.id, run)) is None:
                del self._runs[self._open.id]

    def cancel(self) -> None:
        """Stop the compact of the open conversation; what is archived stays archived."""
        if self._open is not None and (run := self._runs.get(self._open.id)) is not None:
            run.stop.set()
            self._show_run()

    def retry(self) -> None:
        """Try the archives of the open conversation again that were given up."""
        if self._open is not None:
            self._tasks.start(self._retry(self._open.id))

    async def _compact(self, session: SessionId, run: _Run) -> None:
        def progress(step: CommitStep) -> None:
            run.step = step
            self._show_run()

        try:
            result = await self._engine.compact(session, progress=progress, stop=run.stop)
        finally:
            del self._runs[session]
            self._show_run()
        words = result_words(result, remember=run.remember)
        if self._is_open(session) and self._refresher.visible:
            waits = await self._reload()  # it says why, and how to go on
            self._view.show_result("" if waits else words)
        else:
            title = one_line(run.title, 40)
            self._report(f"“{title}”: {words}" if title else words)

    async def _retry(self, session: SessionId) -> None:
        tried = await self._engine.retry_all(session)
        if self._is_open(session):
            await self._reload()
        if not tried:
            self._report("There is nothing left to try again.")

    async def _reload(self) -> bool:
        """Show what waits for a retry; returns whether anything does."""
        if self._open is None:
            return False
        session = self._open.id
        failed = await self._engine.list_failed(session)
        if self._is_open(session):
            self._view.show_failed(failed, self._clock())
        return bool(failed)

    async def _refresh(self) -> None:
        await self._reload()

    def _show_run(self) -> None:
        run = self._runs.get(self._open.id) if self._open is not None else None
        if run is None:
            self._view.show_progress("", can_cancel=False)
        elif run.stop.is_set():
            self._view.show_progress(STOPPING, can_cancel=False)
        else:
            self._view.show_progress(step_words(run.step), can_cancel=True)

    def _is_open(self, session: SessionId) -> bool:
        return self._open is not None and self._open.id == session
