"""The step `recap`: what a closed segment came to, by a model where one may be asked, else a placeholder.

A placeholder is marked as such, never embedded, and tried again: when a model comes, after each success, and
with a growing wait after each failure, all stored with the segment.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from core.archivist.recap import RecapOutcome, Trigger, decide_outcome, wait_after
from core.archivist.recap_text import Material, prepare_material
from core.archivist.recap_writer import Part, RecapModel, Summed, Task, sum_up
from core.archivist.topics import name_topic
from core.archivist.tree import TreeMessage
from core.changes import Changes
from core.config import LearningSettings
from core.jobs.finalise import FindModel
from core.jobs.runner import Finish
from core.model import RecapSource, Role, SegmentId, SessionId
from core.storage import recaps
from core.storage.database import Connection, Database
from core.storage.queue import Job
from core.storage.recaps import Spoken, Stretch

NO_MODEL = "No model has shown that it can sum up."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A segment as it was read, and what can be made of it without a model."""

    stretch: Stretch
    material: Material
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A recap or what stands in for it."""

    text: str
    source: RecapSource
    model: str | None
    outcome: RecapOutcome
    error: str  # for the user
    tried: bool  # a model was asked


class RecapMaker:
    """Makes recaps; one at a time in its lane."""

    def __init__(
        self,
        database: Database,
        *,
        learning: LearningSettings,
        find_model: FindModel,
        queue_due: Callable[[Connection, Trigger], int],
        queue_learners: Callable[[Connection, Stretch], None],
        pool: Executor,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._learning = learning
        self._find_model = find_model
        self._queue_due = queue_due
        self._queue_learners = queue_learners
        self._pool = pool
        self._publish = publish
        self._clock = clock

    async def run(self, job: Job) -> Finish | None:
        """Sum up the segment of a job, unless it has a recap or changed since the job was queued."""
        read = await self._read(SegmentId(job.payload["segment"]))
        if read is None or read.stretch.status == "summarised":
            return None
        if read.stretch.revision != int(job.payload["revision"]):
            return None
        made = await self._make(read)
        return publish_later(self._publish, lambda c: self._store(c, read, made), read.stretch.session_id)

    async def again(self, segment_id: SegmentId) -> str:
        """Sum a closed segment up once more; returns "" or, in words, why there is no better recap than before."""
        read = await self._read(segment_id)
        if read is None:
            return "This segment is still open, or no longer there."
        made = await self._make(read)
        if not made.outcome.usable and read.stretch.status == "summarised":
            return made.error  # the recap that is there is better than a placeholder
        await self._database.write(lambda c: self._store(c, read, made))
        self._publish(Changes(segments=frozenset({read.stretch.session_id})))
        return made.error

    async def roll(self, session_id: SessionId) -> str | None:
        """Sum up the open segment; writes nothing, None without a usable recap (never a placeholder)."""
        stretch = await self._database.read(lambda c: recaps.get_open(c, session_id))
        if stretch is None:
            return None
        made = await self._make(await self._prepare(stretch))
        return made.text if made.outcome.usable else None

    async def _read(self, segment_id: SegmentId) -> _Read | None:
        stretch = await self._database.read(lambda c: recaps.get(c, segment_id))
        return None if stretch is None or stretch.status == "open" else await self._prepare(stretch)

    async def _prepare(self, stretch: Stretch) -> _Read:
        spoken = await self._database.read(
            lambda c: recaps.load_spoken(c, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn)
        )
        return await asyncio.get_running_loop().run_in_executor(self._pool, _digest, stretch, spoken)

    async def _make(self, read: _Read) -> _Made:
        material = read.material
        if material.budget.mode == "verbatim":
            outcome = replace(decide_outcome(material.verbatim, error=None, seconds=0.0), source=RecapSource.VERBATIM)
            if outcome.usable:
                return _Made(
                    text=material.verbatim,
                    source=outcome.source,
                    model=None,
                    outcome=outcome,
                    error="",
                    tried=False,
                )
        helper = await self._find_model()
        if helper is None:
            missing = decide_outcome(None, error=NO_MODEL, seconds=0.0)
            return _Made(
                text=material.placeholder,
                source=missing.source,
                model=None,
                outcome=missing,
                error=NO_MODEL,
                tried=False,
            )
        return await self._ask(helper, read)

    async def _ask(self, helper: RecapModel, read: _Read) -> _Made:
        began_at, deadline_s = self._clock(), float(self._learning.recap_deadline_seconds)
        summed = await sum_up(helper, _describe(read, deadline_s))
        seconds = max(0.0, self._clock() - began_at)
        outcome = decide_outcome(summed.text, error=summed.error or None, seconds=seconds, deadline_s=deadline_s)
        return _Made(
            text=summed.text if outcome.usable else read.material.placeholder,
            source=summed.source if outcome.usable else outcome.source,
            model=helper.model.status.name,
            outcome=outcome,
            error="" if outcome.usable else _explain(summed),
            tried=True,
        )

    def _store(self, c: Connection, read: _Read, made: _Made) -> None:
        stretch, keywords = read.stretch, read.material.keywords
        title = stretch.title if stretch.titled_by_user else read.title
        if made.outcome.usable:
            written = recaps.store_recap(
                c, stretch, summary=made.text, source=made.source, model=made.model, title=title, keywords=keywords
            )
            if written:
                self._queue_learners(c, stretch)
            if written and made.tried:
                self._queue_due(c, Trigger.RECAP_OK)
        else:
            attempts = stretch.attempts + int(made.tried)
            recaps.store_placeholder(
                c,
                stretch,
                summary=made.text,
                title=title,
                keywords=keywords,
                attempts=attempts,
                next_try_at=self._clock() + wait_after(attempts) if made.tried else None,
                error=made.error,
            )


def publish_later(publish: Callable[[Changes], None], finish: Finish, session_id: SessionId) -> Finish:
    """Let a job's end be seen: the notice goes to the loop, whose next look at the store comes after the commit."""
    loop = asyncio.get_running_loop()

    def end(c: Connection) -> None:
        finish(c)
        loop.call_soon_threadsafe(publish, Changes(segments=frozenset({session_id})))

    return end


def _digest(stretch: Stretch, spoken: tuple[Spoken, ...]) -> _Read:
    """Make the messages of a segment ready; one that changed after it closed is named again."""
    messages = [TreeMessage(turn=each.turn, role=each.role, at=each.at, text=each.text) for each in spoken]
    title = stretch.title
    if (stretch.revision or not title) and not stretch.titled_by_user:
        title = name_topic([each.text for each in spoken if each.role is Role.USER], stretch.language)
    return _Read(stretch=stretch, material=prepare_material(messages), title=title)


def _describe(read: _Read, deadline_s: float) -> Task:
    material, stretch = read.material, read.stretch
    return Task(
        parts=tuple(
            Part(kind="user" if m.role is Role.USER else "assistant", mark=str(m.turn), text=m.text)
            for m in material.messages
        ),
        candidates=material.candidates,
        worth=material.worth,
        max_tokens=material.budget.max_tokens,
        language=stretch.language,
        prefix=f"recap:{stretch.id}",
        deadline_s=deadline_s,
    )


def _explain(summed: Summed) -> str:
    return summed.error or "The model took too long."
