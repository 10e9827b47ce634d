"""What background work does, did and could not do, and the way to have it tried again.

Relies on the queue and the log in the store, so that it shows the work of every process on the data folder.
"""

from dataclasses import replace

from core.activity import Activity, JobState, QueuedJob
from core.changes import Changes
from core.jobs.finalise import GOALS, LIBRARIAN, RECAP
from core.owners import describe_owner, is_app_running
from core.services.ground import Ground
from core.storage import activity, queue
from core.storage.database import Connection
from core.storage.tree import SEAL

# the kinds that ask a model where one may be asked
MODEL_KINDS = frozenset({queue.MEMORY_UPDATE, RECAP, SEAL, GOALS, LIBRARIAN})
_NOT_DONE = (JobState.WAITING, JobState.BACK_OFF)
SPARE_BYTES = 512 * 1024 * 1024  # of memory that must be left beside a model


class ActivityService:
    """What the Activity tab and `keepsake-jobs status` show."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def load(self) -> Activity:
        """Return jobs, log and health as they are now; who does what is put in words."""
        now = self._ground.clock()
        loaded = await self._ground.database.read(lambda c: _load(c, now))
        return replace(
            loaded,
            running=tuple(map(_name_owner, loaded.running)),
            recent=tuple(replace(each, owner=describe_owner(each.owner)) for each in loaded.recent),
            successes=tuple(replace(each, owner=describe_owner(each.owner)) for each in loaded.successes),
        )

    async def retry(self, job_id: int) -> bool:
        """Let one job run now; False if it is gone or runs already."""
        done = await self._ground.database.write(lambda c: queue.retry(c, job_id))
        self._wake()
        return done

    async def retry_all(self) -> int:
        """Let every job that failed or waits for its next try run now; returns how many."""
        tried = await self._ground.database.write(queue.retry_all)
        self._wake()
        return tried

    @property
    def app_runs(self) -> bool:
        """Whether an app has the data folder open, in this process or another."""
        return is_app_running(self._ground.folder.owners)

    def leave_model_work(self) -> None:
        """Leave what asks a model to the app, which has it loaded."""
        self._ground.backroom().worker.leave(MODEL_KINDS)

    def _wake(self) -> None:
        self._ground.publish(Changes(status=True))
        self._ground.backroom().worker.wake()


def fits_memory(model_bytes: int, free_bytes: int | None) -> bool:
    """Whether a model can be loaded beside what runs; True where the free memory is not known."""
    return free_bytes is None or model_bytes + SPARE_BYTES <= free_bytes


def _load(c: Connection, now: float) -> Activity:
    return Activity(
        running=activity.load_jobs(c, now=now, states=(JobState.RUNNING,)),
        waiting=activity.load_jobs(c, now=now, states=_NOT_DONE),
        failed=activity.load_jobs(c, now=now, states=(JobState.FAILED,)),
        counts=activity.count_kinds(c, now=now),
        recent=activity.load_log(c),
        successes=activity.load_successes(c),
        health=activity.load_health(c, now=now),
    )


def _name_owner(job: QueuedJob) -> QueuedJob:
    return replace(job, owner=describe_owner(job.owner))
