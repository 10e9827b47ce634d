"""Owned tasks: started by a presenter, reported on when they fail, ended when it closes.

The event loop holds tasks only weakly, so each presenter keeps a `Tasks` and closes it. Free of Qt.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from core.errors import CoreError

log = logging.getLogger(__name__)
UNEXPECTED = "Something went wrong inside Keepsake; nothing was deleted. The log has the details."
CLOSE_TIMEOUT_S = 2.0

Report = Callable[[str], None]


class Tasks:
    """A set of running tasks; what one of them raises goes to a report, in words."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self, work: Coroutine[object, object, None], report: Report | None = None) -> asyncio.Task[None] | None:
        """Run `work`; an expected failure's text goes to `report`. After `aclose` nothing is run any more."""
        if self._closed:  # a view on its way out may still want something
            work.close()
            return None
        task = asyncio.get_running_loop().create_task(self._guard(work, report or self._report))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(lambda _task: work.close())  # cancelled before its first step
        return task

    async def aclose(self) -> None:
        """Cancel what runs and wait, but not for ever: closing the window must not hang."""
        self._closed = True
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            _, late = await asyncio.wait(running, timeout=CLOSE_TIMEOUT_S)
            if late:
                log.warning("%d tasks did not end in %.0f s", len(late), CLOSE_TIMEOUT_S)

    @staticmethod
    async def _guard(work: Coroutine[object, object, None], report: Report) -> None:
        try:
            await work
        except CoreError as error:
            report(str(error))
        except Exception:
            log.exception("a task of the window failed")
            report(UNEXPECTED)


class Refresher:
    """Reloads on request, one at a time: requests that arrive meanwhile cause one more load after it."""

    def __init__(self, tasks: Tasks, load: Callable[[], Awaitable[None]], *, pause_s: float = 0.05) -> None:
        self._tasks = tasks
        self._load = load
        self._pause_s = pause_s
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def request(self) -> None:
        """Load now, or once more when the present load ends."""
        if self._task is None or self._task.done():
            self._task = self._tasks.start(self._run())
        else:
            self._again = True

    async def _run(self) -> None:
        while True:
            self._again = False
            await self._load()
            if not self._again:
                return
            await asyncio.sleep(self._pause_s)  # a replay publishes hundreds of notices a second


class TabRefresher(Refresher):
    """Reloads only while its tab is on screen; what was asked for meanwhile is loaded when it is again.

    `each_time`: so is what nobody asked for, for others than the engine may have changed it.
    """

    def __init__(
        self, tasks: Tasks, load: Callable[[], Awaitable[None]], *, visible: bool, each_time: bool = False
    ) -> None:
        super().__init__(tasks, load)
        self.visible = visible
        self._each_time = each_time
        self._stale = False

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen."""
        self.visible = visible
        if visible and (self._stale or self._each_time):
            self.request()

    def request(self) -> None:
        """Load now, or as soon as the tab is on screen."""
        self._stale = not self.visible
        if self.visible:
            super().request()
