"""Runs queued jobs of one lane, one at a time: claim, heart-beat, handler, finish or give back.

A handler does a job's work and returns what is to be written in the transaction that ends the job, so
that the effect and the job's end are one. Work before it must bear being done again: a process whose lease ran
out while it was held up finds the job in other hands, and what it wanted to write is dropped. Each end is logged
with the process it was done by.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from core.activity import Outcome
from core.errors import CoreError
from core.storage import activity, queue
from core.storage.database import Connection, Database
from core.storage.queue import Hold, Job, Lane

log = logging.getLogger(__name__)

Finish = Callable[[Connection], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """What a handler returns whose job's time has not come: it is given back and counts as no attempt."""

    seconds: float
    why: str = ""  # for the user, if something failed


Handler = Callable[[Job], Awaitable[Finish | Later | None]]

BUG = "Some background work failed; it is tried again. The log has the details."


class JobRunner:
    """Works one lane of the queue for a process."""

    def __init__(
        self,
        database: Database,
        lane: Lane,
        *,
        handlers: Mapping[str, Handler],
        report: Callable[[str, str], None],
        clock: Callable[[], float],
        owner: str,
    ) -> None:
        """`handlers` by kind; `report` takes (kind, what failed in words or "")."""
        self._database = database
        self._lane = lane
        self._handlers = handlers
        self._report = report
        self._clock = clock
        self._owner = owner
        self._left_to_others: frozenset[str] = frozenset()
        self._one = asyncio.Lock()  # jobs of a lane one at a time: their files follow each other

    def leave(self, kinds: frozenset[str]) -> None:
        """Leave jobs of some kinds to another process."""
        self._left_to_others = kinds

    async def run_one(self) -> bool:
        """Run the oldest job that is due; False when there is none."""
        async with self._one:
            kinds = tuple(kind for kind in self._handlers if kind not in self._left_to_others)
            job = await self._database.write(
                lambda c: queue.claim_job(c, self._owner, now=self._clock(), lane=self._lane, kinds=kinds),
                repeatable=True,
            )
            if job is None:
                return False
            await self._run(job)
            return True

    async def run_key(self, key: str) -> bool:
        """Run a job that somebody waits for, due or not; False if it is gone or another process has it.

        Cancelling it ends the job's work; the job itself stays in the queue, for whoever cancelled to decide.
        """
        async with self._one:
            job = await self._database.write(
                lambda c: queue.claim_by_key(c, self._owner, key, now=self._clock()), repeatable=True
            )
            if job is None:
                return False
            await self._run(job)
            return True

    async def _run(self, job: Job) -> None:
        began_at = self._clock()
        try:
            outcome = await self._work(job)
        except (CoreError, OSError) as error:
            await self._give_back(job, describe(error), began_at=began_at)
        except Exception:  # the job's end: one that fails must not hold up the others
            log.exception("job %s (%s) failed", job.id, job.kind)
            await self._give_back(job, BUG, began_at=began_at)
        else:
            if isinstance(outcome, Later):
                await self._put_off(job, outcome)
                return
            at = self._clock()
            if not await self._database.write(partial(_end, job, outcome, at, at - began_at), repeatable=True):
                log.warning("job %s (%s) was another process's by the time it was done", job.id, job.kind)
            self._report(job.kind, "")

    async def _work(self, job: Job) -> Finish | Later | None:
        beating = asyncio.get_running_loop().create_task(self._beat(job))
        try:
            return await self._handlers[job.kind](job)
        finally:
            beating.cancel()

    async def _beat(self, job: Job) -> None:
        """Keep the lease while the job runs."""
        while True:
            await asyncio.sleep(queue.LEASE_S / 3)
            await self._database.write(
                lambda c: queue.renew_lease(c, job, self._owner, now=self._clock()), repeatable=True
            )

    async def _put_off(self, job: Job, later: Later) -> None:
        if later.why:
            self._report(job.kind, later.why)
        until = self._clock() + later.seconds
        await self._database.write(lambda c: queue.put_off(c, job, until=until, note=later.why), repeatable=True)

    async def _give_back(self, job: Job, error: str, *, began_at: float) -> None:
        self._report(job.kind, error)
        at = self._clock()
        outcome = Outcome.GAVE_UP if job.attempts >= queue.MAX_ATTEMPTS else Outcome.FAILED

        def give_back(c: Connection) -> None:
            if queue.check_hold(c, job) is Hold.HELD:
                queue.postpone_job(c, job, error=error, now=at)
                activity.log_end(c, job, outcome, self._owner, at=at, took_s=at - began_at, error=error)

        await self._database.write(give_back)


def describe(error: CoreError | OSError) -> str:
    """Put an expected failure of background work into words."""
    return str(error) if isinstance(error, CoreError) else f"A file of memory could not be written: {error}"


def _end(job: Job, finish: Finish | None, at: float, took_s: float, c: Connection) -> bool:
    """Write a job's effect, its end and the log; False if the job is not ours any more."""
    hold = queue.check_hold(c, job)
    if hold is Hold.LOST or (hold is Hold.GONE and finish is not None):
        return False
    if finish is not None:
        finish(c)
    queue.finish_job(c, job)
    activity.log_end(c, job, Outcome.DONE, job.owner, at=at, took_s=took_s)
    return True
