"""The step `lessons`: a tool that failed in the same way in three segments becomes an entry of category mistake."""

from collections.abc import Callable

from core.archivist.lessons import Failure, read_lesson
from core.changes import Changes
from core.jobs.memory_entries import MemoryKeeper
from core.model import SegmentId, TurnId
from core.storage import lessons
from core.storage.database import Database
from core.storage.queue import Job

SEGMENTS = 3


class LessonKeeper:
    """Looks at all lessons when a segment with one closes; there are few."""

    def __init__(
        self,
        database: Database,
        keeper: MemoryKeeper,
        *,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._publish = publish
        self._clock = clock

    async def run(self, job: Job) -> None:
        """Write what failed in three segments or more into MEMORY.md, each once."""
        failed: dict[Failure, dict[SegmentId, TurnId]] = {}
        for taught in await self._database.read(lessons.load):
            for failure in read_lesson(taught.lesson):
                failed.setdefault(failure, {}).setdefault(taught.segment_id, taught.turn)
        found = [(each.describe(), tuple(turns.values())) for each, turns in failed.items() if len(turns) >= SEGMENTS]
        if found and await self._keeper.add_mistakes(found, at=self._clock()):
            self._publish(Changes(files=True))
