"""Events and facets out of what the user said: for a segment that closed, and for the turns of an archive.

Idempotent by turn: a turn is read once, and again only when its text changed. What is said in a conversation that
is not to be remembered is in no index, so it never gets here.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from datetime import datetime

from core.changes import Changes
from core.config import LearningSettings
from core.jobs.runner import Finish
from core.model import SegmentId, SessionId, TurnId
from core.profile.keeping import LocalTime, ReadTurn, extract, read_turn
from core.storage import events, segments
from core.storage.archives import Change
from core.storage.database import Connection, Database
from core.storage.events import UserRow
from core.storage.queue import Job


def to_local_time(at: float) -> datetime:
    """Return a moment (s) as the clock on the user's wall showed it."""
    return datetime.fromtimestamp(at).astimezone()


class Extractor:
    """Reads turns for the profile; `learning.events_enabled` off: it reads nothing."""

    def __init__(
        self,
        database: Database,
        *,
        learning: LearningSettings,
        pool: Executor,
        publish: Callable[[Changes], None],
        local_time: LocalTime = to_local_time,
    ) -> None:
        self._database = database
        self._learning = learning
        self._pool = pool
        self._publish = publish
        self._local_time = local_time

    async def extract_segment(self, job: Job) -> Finish | None:
        """Read the turns of a segment (`segment` in the payload); stored in the transaction that ends the job."""
        if not self._learning.events_enabled:
            return None
        segment_id = SegmentId(str(job.payload["segment"]))
        rows = await self._database.read(lambda c: _load_rows(c, segment_id))
        turns = await self._read(rows)
        loop = asyncio.get_running_loop()

        def finish(c: Connection) -> None:
            segment = segments.get(c, segment_id)
            if segment is None:
                return
            events.move_to_segment(c, segment.session_id, segment_id, first=segment.first_turn, last=segment.last_turn)
            if extract(c, turns):  # who reloads asks this thread, and so after this transaction
                loop.call_soon_threadsafe(self._publish, Changes(profile=True))

        return finish

    async def extract_archive(self, session_id: SessionId, archive: int, covers: Sequence[TurnId]) -> Sequence[Change]:
        """Read the turns of an archive that were not read yet; returns all that its turns changed, in order."""
        if not self._learning.events_enabled or not covers:
            return ()
        wanted = frozenset(covers)
        rows = await self._database.read(
            lambda c: events.load_user_rows(c, session_id, first=min(covers), last=max(covers))
        )
        turns = await self._read([row for row in rows if row.turn in wanted])

        def store(c: Connection) -> tuple[bool, Sequence[Change]]:
            changed = extract(c, turns)
            return changed, [
                {
                    "op": each.op,
                    "kind": each.kind,
                    "id": each.id,
                    "before": each.before,
                    "after": each.after,
                    "turns": list(each.turns),
                }
                for each in events.load_changes(c, covers)
            ]

        changed, changes = await self._database.write(store)
        if changed:
            self._publish(Changes(profile=True))
        return changes

    async def _read(self, rows: Sequence[UserRow]) -> list[ReadTurn]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: [read_turn(row, self._local_time) for row in rows])


def _load_rows(c: Connection, segment_id: SegmentId) -> tuple[UserRow, ...]:
    segment = segments.get(c, segment_id)
    if segment is None:
        return ()
    return events.load_user_rows(c, segment.session_id, first=segment.first_turn, last=segment.last_turn)
