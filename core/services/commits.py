"""Commits that the user follows: compact a conversation now, see and try again what was given up."""

import asyncio
from collections.abc import Callable
from functools import partial

from core.changes import Changes
from core.model import CommitStep, Compacted, FailedArchive, FailedStage, SessionId
from core.services.ground import Ground
from core.sessions.archive_recovery import give_up, restart
from core.sessions.commit import name_job
from core.storage import archives, memory_versions, queue
from core.storage.archives import Archive
from core.storage.database import Connection

Progress = Callable[[CommitStep], None]

LOOK_EVERY_S = 0.25  # for an archive that another process works on
CAUSE = "You compacted the conversation."
STOPPED = "You stopped it. The messages are in the archive and are shown to the model as they are until you try again."
NOT_YET = "The update waits for its next try; until then the model sees the messages as they are."


class CommitsService:
    """Compacts conversations; lists and retries archives whose commit was given up."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def compact(self, session_id: SessionId, *, progress: Progress, stop: asyncio.Event) -> Compacted:
        """Archive every finished message and bring it into Working Memory; returns when that is done or stopped.

        Archives that were given up before are tried again first, so that a second compact finishes what the first
        could not. `stop` ends the update, not the archiving: until a retry the model sees those messages as
        they are. Raises `CommitBusyError` or `StorageError`; then nothing was changed.
        """
        progress(CommitStep.ARCHIVING)
        numbers = await self._restart_unfinished(session_id)
        committed = await self._ground.backroom().committing.committer.commit(session_id, cause=CAUSE, keep=0)
        self._publish(session_id)
        if committed is not None and committed.archive is not None:
            numbers.append(committed.archive)
        for number in numbers:
            await self._finish(session_id, number, progress, stop)
        result = await self._ground.database.read(lambda c: _sum_up(c, session_id, tuple(numbers), stop.is_set()))
        await self._ground.backroom().committing.jobs.look()
        progress(result.step)
        self._publish(session_id)
        return result

    async def list_failed(self, session_id: SessionId | None = None) -> tuple[FailedArchive, ...]:
        """Return the archives that wait for a retry, oldest first; of one conversation if given."""
        return await self._ground.database.read(lambda c: _list_failed(c, session_id))

    async def retry(self, session_id: SessionId, number: int) -> bool:
        """Try one archive again, in the background; False if there is nothing to try."""
        at = self._ground.clock()
        queued = await self._ground.database.write(partial(restart, session_id=session_id, number=number, at=at))
        if queued:
            await self._ground.backroom().committing.jobs.look()
            self._ground.backroom().worker.wake()
            self._publish(session_id)
        return queued

    async def retry_all(self, session_id: SessionId | None = None) -> int:
        """Try all archives again that were given up; returns how many."""
        failed = await self.list_failed(session_id)
        return sum([await self.retry(each.session_id, each.number) for each in failed])

    async def _restart_unfinished(self, session_id: SessionId) -> list[int]:
        """Give what was given up a fresh start; returns it with what is still under way, oldest first."""
        at = self._ground.clock()

        def work(c: Connection) -> list[int]:
            failed = [each.number for each in archives.load_failed(c, session_id)]
            for number in failed:
                restart(c, session_id, number, at=at)
            return sorted({*failed, *(each.number for each in archives.load_uncovered(c, session_id))})

        return await self._ground.database.write(work)

    async def _finish(self, session_id: SessionId, number: int, progress: Progress, stop: asyncio.Event) -> None:
        """Work on an archive until it is through, given up, put off or stopped."""
        phase_two = self._ground.backroom().committing.phase_two
        loop = asyncio.get_running_loop()
        working = loop.create_task(self._work(session_id, number))
        stopping = loop.create_task(stop.wait())
        phase_two.watch(session_id, number, progress)
        try:
            await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            phase_two.watch(session_id, number, None)
            stopping.cancel()
            working.cancel()
            await asyncio.wait([working])
        if stop.is_set():
            at = self._ground.clock()
            await self._ground.database.write(
                partial(give_up, session_id=session_id, number=number, why=STOPPED, at=at)
            )
        elif not working.cancelled():
            working.result()  # a failure of the store is the caller's

    async def _work(self, session_id: SessionId, number: int) -> None:
        """Run an archive's job, its further tries too, here or in the process that has it."""
        key = name_job(session_id, number)
        while (due := await self._ground.database.read(lambda c: queue.get_due(c, key))) is not None:
            wait_s = due - self._ground.clock()
            if wait_s > 0 or not await self._ground.backroom().worker.run_job(key):
                await asyncio.sleep(min(max(wait_s, LOOK_EVERY_S / 10), LOOK_EVERY_S))

    def _publish(self, session_id: SessionId) -> None:
        self._ground.publish(Changes(memory=frozenset({session_id}), conversations=True, status=True))


def _sum_up(c: Connection, session_id: SessionId, numbers: tuple[int, ...], stopped: bool) -> Compacted:
    """Say what became of some archives."""
    made = [archive for number in numbers if (archive := archives.get(c, session_id, number)) is not None]
    outside = [archive for archive in made if archive.version is None]
    step, error = CommitStep.DONE, ""
    if outside:
        step = CommitStep.STOPPED if stopped else CommitStep.FAILED
        failures = [_list_stages(c, archive) for archive in outside]
        error = next((stages[0].error for stages in failures if stages), NOT_YET)
    return Compacted(
        step=step,
        archives=numbers,
        messages=sum(archives.count_messages(c, archive) for archive in made),
        version=memory_versions.get_newest_number(c, session_id),
        error=error,
    )


def _list_failed(c: Connection, session_id: SessionId | None) -> tuple[FailedArchive, ...]:
    return tuple(
        FailedArchive(
            session_id=archive.session_id,
            number=archive.number,
            archived_at=archive.created_at,
            in_memory=archive.version is not None,
            stages=_list_stages(c, archive),
        )
        for archive in archives.load_failed(c, session_id)
    )


def _list_stages(c: Connection, archive: Archive) -> tuple[FailedStage, ...]:
    failures = archives.load_failures(c, archive.session_id, archive.number)
    return tuple(
        FailedStage(stage=stage, error=failure.error, attempts=failure.attempts, at=failure.at)
        for stage, failure in sorted(failures.items())
    )
