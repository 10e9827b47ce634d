"""The Activity tab: background work of every process on the data folder, and the retry of what failed."""

from collections.abc import Callable
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.activity import Activity
from core.changes import Changes


class ActivityView(Protocol):
    """What the tab must be able to show."""

    def show_activity(self, activity: Activity, now: float, /) -> None: ...


class ActivityReader(Protocol):
    """The slice of the engine that the tab needs."""

    async def load(self) -> Activity: ...
    async def retry(self, job_id: int) -> bool: ...
    async def retry_all(self) -> int: ...


class ActivityPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(
        self, engine: ActivityReader, view: ActivityView, *, report: Report, clock: Callable[[], float]
    ) -> None:
        self._engine = engine
        self._view = view
        self._report = report
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._refresher.request()

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload when work began or ended, here or in another process."""
        if changes.status or changes.everything or changes.memory or changes.segments or changes.files:
            self._refresher.request()

    def tick(self) -> None:
        """Time went by: "2 min ago" grows old."""
        self._refresher.request()

    def retry(self, job_id: int) -> None:
        """Have one job tried again now."""
        self._tasks.start(self._retry(job_id))

    def retry_all(self) -> None:
        """Have all that failed tried again now."""
        self._tasks.start(self._retry_all())

    async def _reload(self) -> None:
        self._view.show_activity(await self._engine.load(), self._clock())

    async def _retry(self, job_id: int) -> None:
        if not await self._engine.retry(job_id):
            self._report("That job is done, or runs already.")
        self._refresher.request()

    async def _retry_all(self) -> None:
        tried = await self._engine.retry_all()
        self._report(f"{tried} jobs are tried again." if tried != 1 else "One job is tried again.")
        self._refresher.request()
