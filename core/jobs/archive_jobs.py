"""Phase 2 of commits as jobs: in the quick lane where only files are to be written, else in the slow one."""

from collections.abc import Awaitable, Callable

from core.changes import Changes
from core.jobs.runner import Later
from core.sessions.archive_recovery import Recovered
from core.sessions.phase_two import PhaseTwo
from core.storage import archives
from core.storage.database import Database
from core.storage.queue import Job


class ArchiveJobs:
    """Runs the jobs of kind `queue.MEMORY_UPDATE`; `problem` says in words what was given up, "" if nothing was."""

    def __init__(
        self,
        database: Database,
        phase_two: PhaseTwo,
        *,
        recover: Callable[[], Awaitable[Recovered]],
        publish: Callable[[Changes], None],
    ) -> None:
        """`recover` puts right what crashes left of archives."""
        self._database = database
        self._phase_two = phase_two
        self._recover = recover
        self._publish = publish
        self.problem = ""

    async def finish(self, job: Job) -> Later | None:
        """Do what is left of an archive; gives the job back while it waits or a stage is to be tried again."""
        waiting = await self._phase_two.finish(
            job.session_id, int(job.payload["archive"]), queued_at=job.created_at, waits=job.waits
        )
        await self.look()
        if job.lane == "slow":  # a version may have come; one of the quick lane was published with its commit
            self._publish(Changes(memory=frozenset({job.session_id}), conversations=True, status=True))
        return Later(seconds=waiting.seconds, why=waiting.why) if waiting else None

    async def recover(self) -> Recovered:
        """Put right what crashes left; for the start of a process."""
        recovered = await self._recover()
        await self.look()
        return recovered

    async def look(self) -> None:
        """See what waits for the user's retry."""
        count, error = await self._database.read(archives.count_failed)
        text = ""
        if count:
            what = "The archive of a conversation was" if count == 1 else f"Archives of conversations ({count}) were"
            text = f"{what} not finished: {error} Nothing was lost; run `keepsake-jobs commits --retry` to try again."
        if text != self.problem:
            self.problem = text
            self._publish(Changes(status=True))
