"""What happens to a finished turn: index, twin, vectors, segment, pending memory lines.

The hook reads the turn, redacts it once, and indexes it in one transaction whose commit is the
acknowledgement. What follows comes from the outbox, in turn order within a conversation, each
step idempotent by turn. It never runs on the interface's thread and never fails the chat.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar

from core.archivist.boundaries import BoundaryRules, stamp_turn
from core.archivist.twins import Twin, TwinWriter
from core.config import LearningSettings
from core.jobs import remembering, segmentation
from core.jobs.embedder_slot import EmbedderSlot
from core.jobs.remembering import Noticed, Situation, Vectors
from core.model import BoundaryReason, Role, SegmentId, SessionId, TurnId
from core.redaction import redact
from core.sessions.commit import update_counters
from core.storage import conversations, episodic, memory_versions, outbox, segments, turns
from core.storage.database import Connection, Database
from core.storage.segments import SegmentRow

T = TypeVar("T")

RECENT_USER_TEXTS = 6
RECENT_TEXTS = 6  # both roles, for lexical drift (archivist.md section 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What came of a turn: what its conversation's memory may need next."""

    session_id: SessionId
    turn: TurnId
    kept: int
    closed: SegmentId | None
    pending_tokens: int
    live_tokens: int


class TurnHook:
    """Runs the steps of one turn; the worker decides when."""

    def __init__(
        self,
        database: Database,
        *,
        twins: TwinWriter,
        embedder: EmbedderSlot,
        pool: Executor,
        files: Executor,
        learning: LearningSettings,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._twins = twins
        self._embedder = embedder
        self._pool = pool
        self._files = files
        self._learning = learning
        self._clock = clock

    async def index(self, turn: TurnId, *, claim_for: str | None = None) -> SessionId | None:
        """Index a waiting turn; returns its conversation, None when there is nothing to do.

        `claim_for` leases the steps that follow, for a caller that does them at once.
        """
        said = await self._database.read(lambda c: turns.load_turn(c, turn))
        if said is None:
            return None
        user, reply = await self._in_pool(
            lambda: (redact(said.user.text), redact(said.reply.text if said.reply else ""))
        )
        arrived = said.user.created_at
        times = stamp_turn(arrived, (said.reply.ended_at if said.reply else None) or arrived)

        def store(c: Connection) -> SessionId | None:
            if not turns.set_hook_done(c, turn):
                return None
            update_counters(c, said.session_id)
            conversation = conversations.get(c, said.session_id)
            if conversation is None or not conversation.remember or not self._learning.episodic_capture_enabled:
                return None
            episodic.put(c, said.session_id, turn, Role.USER, content=user, ts=times.user_ts)
            if reply:
                episodic.put(c, said.session_id, turn, Role.ASSISTANT, content=reply, ts=times.assistant_ts)
            outbox.add(c, said.session_id, turn)
            if claim_for is not None:
                outbox.claim_turn(c, turn, claim_for, now=self._clock())
            return said.session_id

        return await self._database.write(store)

    async def publish_twins(self, numbers: Sequence[TurnId]) -> None:
        """Write the Markdown files of some turns; raises OSError, and the outbox tries again."""
        rows = await self._database.read(lambda c: [row for turn in numbers for row in episodic.load_turn(c, turn)])
        written = [
            Twin(
                session_id=row.session_id,
                turn=row.turn,
                role=row.role,
                timestamp_ms=round(row.ts * 1000),
                text=row.content,
            )
            for row in rows
        ]
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._files, lambda: [self._twins.write(twin) for twin in written])
        await self._database.write(lambda c: [outbox.finish(c, turn, outbox.TWIN) for turn in numbers])

    async def remember(self, turn: TurnId) -> Remembered | None:
        """Vectors, segment and pending lines of an indexed turn, in one transaction; None if done before."""
        situation = await self._database.read(lambda c: _load_situation(c, turn))
        if situation is None:
            await self._database.write(lambda c: outbox.finish(c, turn, outbox.REMEMBER))
            return None
        vectors = await self._embedder.embed([row.content for row in situation.rows])
        rules = BoundaryRules(
            max_turns=self._learning.max_turns_per_segment,
            max_gap_s=float(self._learning.max_time_gap_seconds),
            min_cosine=self._learning.min_cosine_similarity,
        )
        confirm = self._learning.drift_confirm
        noticed = await self._in_pool(lambda: remembering.notice(situation, vectors, rules, confirm_drift=confirm))
        return await self._database.write(lambda c: self._store(c, situation, vectors, noticed))

    def _store(
        self, c: Connection, situation: Situation, vectors: Vectors | None, noticed: Noticed
    ) -> Remembered | None:
        if not outbox.finish(c, situation.turn, outbox.REMEMBER):
            return None
        now = self._clock()
        if vectors is not None:
            table = episodic.add_signature(c, vectors.signature, vectors.dimension)
            pairs = zip(situation.rows, vectors.values, strict=True)
            episodic.put_vectors(c, table, [(row.id, value) for row, value in pairs if value])
        closed = segmentation.store(c, situation.open_segment, noticed.arrival, noticed.plan, now=now)
        memory_versions.add_pending(c, situation.session_id, situation.turn, noticed.lines)
        turns.set_outcome(c, situation.turn, kept=noticed.kept, similarity=noticed.plan.similarity)
        conversations.set_language(c, situation.session_id, noticed.arrival.language)
        if noticed.title:
            conversations.rename(c, situation.session_id, noticed.title, by_user=False)
        if noticed.preview:
            conversations.set_preview(c, situation.session_id, noticed.preview)
        pending, live = conversations.load_counters(c, situation.session_id)
        return Remembered(
            session_id=situation.session_id,
            turn=situation.turn,
            kept=noticed.kept,
            closed=closed,
            pending_tokens=pending,
            live_tokens=live,
        )

    async def close_segment(self, segment: SegmentRow, reason: BoundaryReason) -> bool:
        """Close an open segment that no further turn will join; a held drift stands (archivist.md section 5)."""
        texts, language = await self._database.read(
            lambda c: (
                episodic.load_user_texts(c, segment.session_id, first=segment.first_turn, last=segment.last_turn),
                conversations.load_language(c, segment.session_id) or "en",
            )
        )
        held = segment.held is not None
        before, last = (texts[:-1], texts[-1:]) if held else ((), texts)
        named = await self._in_pool(lambda: [segmentation.name(part, language) for part in (before, last)])

        def store(c: Connection) -> bool:
            now, current = self._clock(), segments.get(c, segment.id)
            if current is None or not current.is_open or current.last_turn != segment.last_turn:
                return False  # a turn came in between, or another process closed it
            if held:
                current = segmentation.split_held(c, current, named[0], now=now)
            return segments.close(
                c, current.id, closed_by=reason, title=named[1].title, summary=named[1].summary, now=now
            )

        return await self._database.write(store)

    async def _in_pool(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)


def _load_situation(c: Connection, turn: TurnId) -> Situation | None:
    """Read all that the decisions about a turn rest on; None if the turn is gone or in a segment already."""
    rows = episodic.load_turn(c, turn)
    if not rows:
        return None
    session_id = rows[0].session_id
    if segments.contains_turn(c, session_id, turn):
        return None
    said = turns.load_turn(c, turn)
    conversation = conversations.get(c, session_id)
    if said is None or conversation is None:
        return None
    open_segment = segments.get_open(c, session_id)
    return Situation(
        session_id=session_id,
        turn=turn,
        rows=rows,
        arrived=said.user.created_at,
        reply_end=said.reply.ended_at if said.reply else None,
        open_segment=open_segment,
        segment_texts=episodic.load_user_texts(c, session_id, first=open_segment.first_turn, last=turn)
        if open_segment
        else (),
        recent_texts=episodic.load_recent_texts(c, session_id, before=turn, limit=RECENT_TEXTS),
        recent_user_texts=episodic.load_recent_user_texts(c, session_id, before=turn, limit=RECENT_USER_TEXTS),
        version=memory_versions.get(c, session_id),
        pending=memory_versions.load_pending(c, session_id),
        language=conversations.load_language(c, session_id),
    )
