"""`engine.commits` as a test wants it: steps by hand, archives that were given up, retries noted."""

import asyncio
from collections.abc import Callable

from core.model import CommitStep, Compacted, FailedArchive, SessionId


class ScriptedCommits:
    """A compact runs until the test sets `gate` or the user stops it; then `result` is what came of it."""

    def __init__(self, maybe_fail: Callable[[], None]) -> None:
        self._maybe_fail = maybe_fail
        self.failed: tuple[FailedArchive, ...] = ()
        self.failed_then: tuple[FailedArchive, ...] | None = None  # after a compact
        self.result = Compacted(step=CommitStep.DONE, archives=(1,), messages=24, version=2)
        self.gate = asyncio.Event()
        self.progress: Callable[[CommitStep], None] | None = None
        self.compacted: list[SessionId] = []
        self.retried: list[SessionId | None] = []

    async def compact(
        self, session_id: SessionId, *, progress: Callable[[CommitStep], None], stop: asyncio.Event
    ) -> Compacted:
        self.compacted.append(session_id)
        self._maybe_fail()
        self.progress = progress
        progress(CommitStep.ARCHIVING)
        waits = [asyncio.ensure_future(event.wait()) for event in (self.gate, stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        if self.failed_then is not None:
            self.failed = self.failed_then
        return self.result

    async def list_failed(self, session_id: SessionId | None = None) -> tuple[FailedArchive, ...]:
        return tuple(each for each in self.failed if session_id in (None, each.session_id))

    async def retry_all(self, session_id: SessionId | None = None) -> int:
        self._maybe_fail()
        self.retried.append(session_id)
        tried = await self.list_failed(session_id)
        self.failed = tuple(each for each in self.failed if each not in tried)
        return len(tried)
