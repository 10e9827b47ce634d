"""The one loop behind the chat: hooks, outbox steps and queued jobs, oldest first.

App and jobs run the same worker on one store; leases keep them out of each other's way. It
waits until it is woken, and looks by itself now and then for what another process left behind.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from core.activity import Outcome
from core.changes import Changes
from core.errors import CoreError
from core.jobs.memory_entries import MemoryKeeper, Said
from core.jobs.reading import Talk
from core.jobs.runner import BUG, Handler, JobRunner, describe
from core.jobs.turn_hook import Prepared, Remembered, Taken, TurnHook
from core.model import BoundaryReason, Role, SaidTurn, SessionId, TurnId
from core.owners import describe_owner
from core.sessions.commit import Committer
from core.storage import activity, conversations, episodic, outbox, queue, segments, turns
from core.storage.database import Connection, Database
from core.storage.outbox import OutboxRow
from core.storage.queue import Job
from core.storage.segments import SegmentRow

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0
SEGMENT_SHARE = 0.5  # of the tokens that make a commit due: what leaves the window when a segment closed
SEGMENT_LINES = 8  # waiting lines that are worth a commit when a segment closed
JOBS_A_LOOK = 10  # between two looks at how many wait
IDLE_S = 30 * 60.0  # an open segment nobody spoke in for so long is finished (archivist.md section 6)
RESTED = "The conversation rested."


class _Lane:
    """When a lane has work, and when it has none."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.idle = asyncio.Event()

    def rouse(self) -> None:
        self.idle.clear()
        self.wake.set()


class Worker:
    """Owns the two lanes' tasks."""

    def __init__(
        self,
        database: Database,
        *,
        hook: TurnHook,
        committer: Committer,
        keeper: MemoryKeeper,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
        owner: str,
        commit_at_tokens: int,
        handlers: Mapping[str, Handler],
        recover: Callable[[], Awaitable[object]],
        is_gone: Callable[[str], bool],
    ) -> None:
        """`handlers` run job kinds that other rooms bring, in either lane; `recover` mends what crashes leave.

        `is_gone` says of an owner whether its process ended.
        """
        self._database = database
        self._hook = hook
        self._committer = committer
        self._keeper = keeper
        self._publish = publish
        self._clock = clock
        self._owner = owner
        self._commit_at_tokens = commit_at_tokens
        self._quick_lane, self._slow_lane = _Lane(), _Lane()
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._recover = recover
        self._is_gone = is_gone
        self._looked_at_s = float("-inf")  # when owners were looked at last
        self._steps_done: Counter[str] = Counter()  # since the log was written last
        self._took_over = False
        self._draining = asyncio.Lock()
        make_runner = partial(JobRunner, database, report=self._report, clock=clock, owner=owner)
        own: dict[str, Handler] = {
            queue.COMMIT: self._commit_as_asked,
            queue.MEMORY_FILES: self._write_entries,
        }
        self._quick = make_runner("quick", handlers={**own, **handlers})
        self._slow = make_runner("slow", handlers=dict(handlers))
        self.problems: dict[str, str] = {}  # step -> what failed last, in words

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = (
            loop.create_task(self._run(self.drain, self._quick_lane, self._slow_lane)),
            loop.create_task(self._run(self._run_slow_jobs, self._slow_lane, self._quick_lane)),
        )

    def leave(self, kinds: frozenset[str]) -> None:
        """Leave slow jobs of some kinds to another process."""
        self._slow.leave(kinds)

    def wake(self) -> None:
        """Say that there is work."""
        self._quick_lane.rouse()
        self._slow_lane.rouse()

    @property
    def busy(self) -> bool:
        return not (self._quick_lane.idle.is_set() and self._slow_lane.idle.is_set())

    async def wait_idle(self) -> None:
        """Return when nothing that is due is left to do; without the loop it is done here and now."""
        if not self._tasks:
            while await self.drain() or await self._run_slow_jobs():
                pass
            return
        self.wake()
        while self.busy:
            await self._quick_lane.idle.wait()
            await self._slow_lane.idle.wait()

    async def aclose(self) -> None:
        """Stop after the step that runs; what is left is in the outbox and the queue."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self, work: Callable[[], Awaitable[bool]], lane: _Lane, other: _Lane) -> None:
        """Work when woken; what one lane did may be work for the other."""
        while True:
            lane.wake.clear()
            try:
                if await work():
                    other.rouse()
            except CoreError as error:
                self._report("store", str(error))
            except Exception:  # the task's end: a bug must not end the loop
                log.exception("background work failed")
                self._report("work", BUG)
            if not lane.wake.is_set():
                lane.idle.set()
                self._publish(Changes(status=True))
            try:
                async with asyncio.timeout(LOOK_EVERY_S):  # `wait_for` of Python 3.11 may swallow a cancellation
                    await lane.wake.wait()
            except TimeoutError:
                continue

    async def _run_slow_jobs(self) -> bool:
        did = False
        while await self._slow.run_one():
            did = True
        return did

    async def drain(self) -> bool:
        """Do all that is due in the quick lane; False when there was nothing."""
        async with self._draining:
            return await self._drain()

    async def _drain(self) -> bool:
        # a turn that a killed process has leased must not be overtaken by the turns after it
        await self._take_over()
        if not self._took_over:
            await self._recover()
            await self._hook.sweep_twins()
            self._took_over = True
        did = False
        while True:
            waiting = await self._database.read(turns.load_waiting)
            for turn in waiting:
                await self._hook.index(turn)
            row = await self._database.write(lambda c: outbox.claim(c, self._owner, now=self._clock()), repeatable=True)
            if row is not None:
                await self._take_step(row)
            elif not waiting and not await self._quick.run_one():
                await self._log_steps()
                return did
            did = True

    async def _take_over(self) -> None:
        """End the leases of processes that no longer live; their work goes on here or elsewhere."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._looked_at_s < LOOK_EVERY_S:
            return
        self._looked_at_s = now_s
        owners = await self._database.read(lambda c: {*queue.list_owners(c), *outbox.list_owners(c)})
        gone = [owner for owner in owners if owner != self._owner and self._is_gone(owner)]
        if gone:
            await self._database.write(partial(_release_leases, gone, self._clock()))
            self._slow_lane.rouse()
            self._publish(Changes(status=True))

    async def _log_steps(self) -> None:
        """Note what was done for turns since the last time: one entry a step, however many turns."""
        done, self._steps_done = self._steps_done, Counter()
        if done:
            await self._database.write(
                lambda c: activity.log_steps(c, done, self._owner, at=self._clock()), repeatable=True
            )

    def expect(self, turns: int) -> None:
        """Say that so many turns of a transcript will come: many are read in a process of their own."""
        self._hook.expect(turns)

    async def prepare(self, said: Sequence[SaidTurn], talk: Talk) -> tuple[list[Prepared], Talk]:
        """Read finished turns of a transcript ahead of `take`; returns what leads up to the next, too."""
        return await self._hook.prepare(said, talk)

    async def take(self, session_id: SessionId, prepared: Sequence[Prepared], *, stop: asyncio.Event) -> list[Taken]:
        """Do all that the chat does after a turn for finished turns of a transcript; `stop` ends it between two.

        Turns up to the next commit share a transaction: a transcript can be read again, so none needs one of
        its own, nor to wait for the disk. Commits are made in the store; what writes their files waits in the
        queue for `finish`. The caller publishes the twins.
        """
        waiting, taken = prepared, list[Taken]()
        while waiting and not stop.is_set():
            part = await self._database.write(partial(self._take_until_due, session_id, waiting, stop), repeatable=True)
            taken += part
            waiting = waiting[len(part) :]
            cause = self._due(part[-1].remembered) if part else ""
            if cause:
                await self._commit(session_id, cause=cause, asked=True, files_later=True)
        touched = frozenset({session_id})
        self._publish(Changes(messages=touched, memory=touched, segments=touched, conversations=True))
        return taken

    async def commit_store(self, session_id: SessionId, *, cause: str) -> None:
        """Commit a conversation in the store; its files are written when the queue is worked (`finish`)."""
        await self._commit(session_id, cause=cause, files_later=True)

    async def finish(self, *, progress: Callable[[int], None], stop: asyncio.Event) -> None:
        """Work the quick lane until nothing is due; tells how many jobs wait, and ends between two at `stop`."""
        while not stop.is_set():
            waiting, _ = await self._database.read(queue.count_jobs)
            progress(waiting)
            for _ in range(JOBS_A_LOOK):
                if stop.is_set() or not await self._quick.run_one():
                    self._slow_lane.rouse()
                    return

    def _take_until_due(
        self, session_id: SessionId, waiting: Sequence[Prepared], stop: asyncio.Event, c: Connection
    ) -> list[Taken]:
        """Take turns until one makes a commit due; runs on the database thread."""
        taken: list[Taken] = []
        conversations.ensure(c, session_id, at=waiting[0].said.user_at)
        for prepared in waiting:
            if stop.is_set():
                break
            taken.append(self._hook.take(c, session_id, prepared, owner=self._owner))
            if taken[-1].remembered is not None and self._note_due(c, taken[-1].remembered):
                break
        return taken

    async def publish_twins(self, taken: Sequence[Taken]) -> None:
        """Publish the twins of turns that were taken; a failure gives them back to the outbox."""
        try:
            await self._hook.publish_taken(taken)
        except OSError as error:
            self._report(outbox.TWIN, describe(error))
            numbers = [each.turn for each in taken if each.turn is not None]
            await self._database.write(lambda c: outbox.release_turns(c, numbers, self._owner))

    async def retry_failed(self) -> None:
        """Give jobs that ran out of attempts another start, as each start of the app does."""
        if await self._database.write(queue.retry_failed):
            self.wake()

    async def flush(self, *, before: float) -> None:
        """Close open segments whose last turn ended before a time, and commit their conversations."""
        for segment in await self._database.read(lambda c: segments.find_idle(c, before=before)):
            if await self.close_rested(segment):
                await self.commit(segment.session_id, cause=RESTED)
                self._publish(Changes(segments=frozenset({segment.session_id})))

    async def close_rested(self, segment: SegmentRow) -> bool:
        """Close one open segment; the commit it makes due is queued with it. False if it went on meanwhile."""
        ask = partial(queue.ask_for_commit, session_id=segment.session_id, turn=segment.last_turn, cause=RESTED)
        return await self._hook.close_segment(segment, BoundaryReason.FLUSH, also=ask)

    async def commit(self, session_id: SessionId, *, cause: str) -> bool:
        """Commit a conversation now, files and all; False when there was nothing to commit."""
        committed = await self._commit(session_id, cause=cause)
        while await self._quick.run_one():
            pass
        self._slow_lane.rouse()
        return committed

    async def run_job(self, key: str) -> bool:
        """Run a job that somebody waits for; False if it is gone or another process has it."""
        return await self._slow.run_key(key)

    async def _commit(
        self, session_id: SessionId, *, cause: str, asked: bool = False, files_later: bool = False
    ) -> bool:
        """Commit a conversation in the store; jobs for its files wait in the queue."""
        if await self._committer.commit(session_id, cause=cause, asked=asked, files_later=files_later) is None:
            return False
        self._publish(Changes(memory=frozenset({session_id}), conversations=True, status=True))
        return True

    async def _take_step(self, row: OutboxRow) -> None:
        try:
            if row.step == outbox.TWIN:
                await self._hook.publish_twins([row.turn])
            else:
                await self._remember(row.turn)
        except (CoreError, OSError) as error:
            await self._postpone(row, describe(error))
        except Exception:  # the step's end: one bad turn must not hold up the others
            log.exception("step %s of turn %s failed", row.step, row.turn)
            await self._postpone(row, "A background step failed; it is tried again. The log has the details.")
        else:
            self._steps_done[row.step] += 1
            self._report(row.step, "")

    async def _postpone(self, row: OutboxRow, error: str) -> None:
        self._report(row.step, error)
        await self._database.write(lambda c: outbox.postpone(c, row, error=error, now=self._clock()))

    async def _remember(self, turn: TurnId) -> None:
        remembered = await self._hook.remember(turn, also=self._note_due)
        if remembered is None:
            return
        touched = frozenset({remembered.session_id})
        self._publish(Changes(messages=touched, memory=touched, segments=touched, conversations=True))
        cause = self._due(remembered)
        if cause:
            await self.commit(remembered.session_id, cause=cause)

    def _note_due(self, c: Connection, remembered: Remembered) -> bool:
        """Queue a commit if a turn makes one due: in its transaction, so that a crash cannot part the two."""
        cause = self._due(remembered)
        if cause:
            queue.ask_for_commit(c, remembered.session_id, remembered.turn, cause=cause)
        return bool(cause)

    def _due(self, remembered: Remembered | None) -> str:
        """Why a commit is due, "" when none is."""
        if remembered is None:
            return ""
        if max(remembered.pending_tokens, remembered.live_tokens) >= self._commit_at_tokens:
            return "The conversation outgrew the window."
        if remembered.asked_to_remember:
            return "You asked to remember something."
        if remembered.closed is None:
            return ""
        much = remembered.pending_tokens >= self._commit_at_tokens * SEGMENT_SHARE
        return "A segment closed." if much or remembered.waiting >= SEGMENT_LINES else ""

    async def _commit_as_asked(self, job: Job) -> None:
        await self._commit(job.session_id, cause=job.payload["cause"], asked=True)

    async def _write_entries(self, job: Job) -> None:
        """Put what the user said of themselves in some turns into MEMORY.md."""
        numbers = [TurnId(turn) for turn in job.payload["turns"]]
        rows = await self._database.read(lambda c: [row for turn in numbers for row in episodic.load_turn(c, turn)])
        said = [Said(turn=row.turn, text=row.content, at=row.ts) for row in rows if row.role is Role.USER]
        if await self._keeper.add(said, at=self._clock()):
            self._publish(Changes(files=True))

    def _report(self, step: str, text: str) -> None:
        if self.problems.get(step, "") != text:
            self.problems[step] = text
            self._publish(Changes(status=True))


def _release_leases(gone: Sequence[str], at: float, c: Connection) -> None:
    """Free what processes that ended had leased, and note it."""
    for owner in gone:
        outbox.release(c, owner)
        for job in queue.release(c, owner, note=f"{describe_owner(owner)} ended before it was done."):
            activity.log_end(c, job, Outcome.TAKEN_OVER, owner, at=at, took_s=0.0)
