"""Phase 2 of commits as jobs: in the quick lane where only files are to be written, else in the slow one."""

from collections.abc import Callable

from core.changes import Changes
from core.jobs.runner import Later
from core.sessions.phase_two import PhaseTwo
from core.storage.queue import Job


class ArchiveJobs:
    """Runs the jobs of kind `queue.MEMORY_UPDATE`."""

    def __init__(self, phase_two: PhaseTwo, *, publish: Callable[[Changes], None]) -> None:
        self._phase_two = phase_two
        self._publish = publish

    async def finish(self, job: Job) -> Later | None:
        """Do what is left of an archive; gives the job back while it waits or a stage is to be tried again."""
        waiting = await self._phase_two.finish(
            job.session_id, int(job.payload["archive"]), queued_at=job.created_at, waits=job.waits
        )
        if job.lane == "slow":  # a version may have come; one of the quick lane was published with its commit
            self._publish(Changes(memory=frozenset({job.session_id}), conversations=True, status=True))
        return Later(seconds=waiting.seconds, why=waiting.why) if waiting else None
