"""What is done once for a segment that closed or changed: its steps, each a job of its own, in this order.

recap → events and facets → tree → lessons → goals → librarian. (A recap's vector follows from its row.) The
close itself queues `finalise` with one insert; that job queues the steps. Each step is idempotent by segment and
revision, and one that fails waits for its own next try while those after it go on. Where a segment was lost on the way
(an older store, a crash), the look at start and on the timer finds it.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from core.archivist.recap import PendingRecap, Trigger, choose_due
from core.archivist.recap_writer import RecapModel
from core.archivist.tree import is_due
from core.config import LearningSettings
from core.jobs.naming import name_turns
from core.jobs.runner import Finish
from core.model import SegmentId
from core.storage import lessons, recaps, segments, tree
from core.storage.database import Connection, Database
from core.storage.queue import Job
from core.storage.recaps import Stretch
from core.storage.segment_edits import Named

RECAP, EXTRACT, TREE, LESSONS = "recap", "extract", "tree", "lessons"
GOALS, LIBRARIAN = "goals", "librarian"
DAY_S = 86_400.0

FindModel = Callable[[], Awaitable[RecapModel | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a segment's work: the kind of its job and the setting that allows it."""

    kind: str
    allowed: Callable[[LearningSettings], bool]


# The order is that of archivist.md section 6. A room that brings a step registers a handler of its kind.
STEPS = (
    Step(kind=RECAP, allowed=lambda learning: learning.recap_enabled),
    Step(kind=EXTRACT, allowed=lambda learning: learning.events_enabled),
    Step(kind=TREE, allowed=lambda learning: learning.chat_to_tree_enabled),
    Step(kind=LESSONS, allowed=lambda learning: learning.episodic_capture_enabled),
    Step(kind=GOALS, allowed=lambda learning: learning.goals_enrichment_enabled),
    Step(kind=LIBRARIAN, allowed=lambda learning: learning.librarian_enabled),
)


async def find_no_model() -> RecapModel | None:
    """No model has passed an exam."""
    return None


class Finaliser:
    """Queues the steps of closed segments and the next tries of their recaps."""

    def __init__(
        self,
        database: Database,
        *,
        learning: LearningSettings,
        find_model: FindModel,
        pool: Executor,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._pool = pool
        self._learning = learning
        self._kinds: frozenset[str] = frozenset()
        self._find_model = find_model
        self._clock = clock

    def use(self, kinds: Collection[str]) -> None:
        """Say which kinds of job have a handler: steps without one are left out."""
        self._kinds = frozenset(kinds)

    @property
    def _steps(self) -> tuple[str, ...]:
        """The steps that the settings allow now."""
        return tuple(step.kind for step in STEPS if step.kind in self._kinds and step.allowed(self._learning))

    async def finalise(self, job: Job) -> Finish:
        """Queue the steps of a segment, each once for what the segment is now."""
        segment_id = SegmentId(job.payload["segment"])
        named = None if RECAP in self._steps else await self._name(segment_id)  # a recap names it too
        return partial(self._queue_steps, segment_id, int(job.payload["revision"]), named)

    async def _name(self, segment_id: SegmentId) -> Named | None:
        """Name a segment; None if it is gone."""
        stretch = await self._database.read(lambda c: recaps.get(c, segment_id))
        if stretch is None:
            return None
        return await name_turns(
            self._database, self._pool, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn
        )

    def _queue_steps(self, segment_id: SegmentId, revision: int, named: Named | None, c: Connection) -> None:
        stretch = recaps.get(c, segment_id)
        if stretch is None or stretch.status == "open" or stretch.revision != revision:
            return  # gone, or changed again: then another job of this kind is queued
        if named is not None:
            segments.name(c, segment_id, title=named.title, summary=named.summary)
        now = self._clock()
        if not recaps.refit(c, stretch):
            tree.ask_to_seal(c, at=now)
            return
        closed = None if RECAP in self._steps or stretch.status != "stale" else "closed"
        recaps.set_finalised(c, stretch, status="closed" if closed else None)
        taught = lessons.holds(c, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn)
        for kind in self._steps:
            if kind != LESSONS or taught:
                recaps.add_step(c, kind, stretch, at=now)

    async def look(self, trigger: Trigger) -> int:
        """Queue what was left behind, buffers that are due, and one probe of the recaps that are; returns how many."""
        queued = 0
        if any(await self._database.read(self._find_left)):
            queued = await self._database.write(self._queue_left)
        # without a model the list, which may be long, need not be read
        if RECAP not in self._steps or await self._find_model() is None:
            return queued
        if await self._database.read(lambda c: bool(self._choose(c, trigger))):
            queued += await self._database.write(lambda c: self.queue_due(c, trigger))
        return queued

    def queue_learners(self, c: Connection, stretch: Stretch) -> None:
        """Queue what a usable recap lets be learnt; nothing where the steps wait already."""
        for kind in (GOALS, LIBRARIAN):
            if kind in self._steps:
                recaps.add_step(c, kind, stretch, at=self._clock())

    def queue_due(self, c: Connection, trigger: Trigger) -> int:
        """Queue the recaps whose turn it is; returns how many."""
        chosen = self._choose(c, trigger)
        for stretch in chosen:
            recaps.add_step(c, RECAP, stretch, at=self._clock(), retry=True)
        return len(chosen)

    def _choose(self, c: Connection, trigger: Trigger) -> list[Stretch]:
        pending = {stretch.id: stretch for stretch in recaps.load_pending(c)}
        waiting = [PendingRecap(id=s.id, closed_at=s.closed_at, next_try_at=s.next_try_at) for s in pending.values()]
        return [pending[SegmentId(i)] for i in choose_due(waiting, now=self._clock(), trigger=trigger)]

    def _find_left(self, c: Connection) -> tuple[Sequence[Stretch], bool]:
        """Return the segments whose work was lost, and whether the tree needs some."""
        return recaps.load_unfinalised(c), TREE in self._steps and needs_seal(c, now=self._clock())

    def _queue_left(self, c: Connection) -> int:
        now, (left, seals) = self._clock(), self._find_left(c)
        for stretch in left:
            recaps.ask_to_finalise(c, stretch, at=now)
        if seals:
            tree.ask_to_seal(c, at=now)
        return len(left) + int(seals)


def needs_seal(c: Connection, *, now: float) -> bool:
    """Whether some buffer of the tree is to be sealed, or a node made again."""
    return tree.needs_work(c) or any(
        is_due(b.level, items=b.items, tokens=b.tokens, oldest_days=(now - b.oldest_at) / DAY_S)
        for b in tree.load_buffers(c)
    )
