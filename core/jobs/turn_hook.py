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
from core.model import BoundaryReason, SaidTurn, SegmentId, SessionId, TurnId
from core.redaction import redact
from core.sessions import transcript
from core.sessions.commit import update_counters
from core.storage import conversations, episodic, memory_versions, outbox, segments, turns
from core.storage.database import Connection, Database
from core.storage.segments import SegmentRow
from core.storage.turns import Turn

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """The texts of a turn as every sink but the transcript gets them; `reply` is "" while there is none."""

    user: str
    reply: str

    def in_order(self) -> list[str]:
        return [self.user, self.reply] if self.reply else [self.user]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A finished turn, ready to be taken."""

    said: SaidTurn
    texts: Redacted
    vectors: Vectors | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a finished turn; `turn` is None if it was there already."""

    turn: TurnId | None
    remembered: Remembered | None


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

    async def index(self, turn: TurnId) -> None:
        """Index a waiting turn: redacted rows and the steps that follow, in one transaction."""
        said = await self._database.read(lambda c: turns.load_turn(c, turn))
        if said is None:
            return
        texts = await self._in_pool(
            lambda: Redacted(user=redact(said.user.text), reply=redact(said.reply.text if said.reply else ""))
        )
        await self._database.write(lambda c: self._index(c, said, texts))

    def _index(self, c: Connection, said: Turn, texts: Redacted, *, claim_for: str | None = None) -> None:
        """Write the index rows of a waiting turn, unless another process did or nothing may be remembered."""
        if not turns.set_hook_done(c, said.turn):
            return
        update_counters(c, said.session_id)
        conversation = conversations.get(c, said.session_id)
        if conversation is None or not conversation.remember or not self._learning.episodic_capture_enabled:
            return
        arrived = said.user.created_at
        times = stamp_turn(arrived, (said.reply.ended_at if said.reply else None) or arrived)
        episodic.put_turn(
            c,
            said.session_id,
            said.turn,
            user=texts.user,
            user_ts=times.user_ts,
            reply=texts.reply,
            reply_ts=times.assistant_ts,
        )
        outbox.add(c, said.session_id, said.turn)
        if claim_for is not None:
            outbox.claim_turn(c, said.turn, claim_for, now=self._clock())

    async def prepare(self, said: Sequence[SaidTurn]) -> list[Prepared]:
        """Redact and embed finished turns of a transcript, ahead of `take`."""
        texts = await self._in_pool(
            lambda: [Redacted(user=redact(turn.user_text), reply=redact(turn.reply_text)) for turn in said]
        )
        vectors = await self._embedder.embed([text.in_order() for text in texts])
        return [Prepared(said=s, texts=t, vectors=v) for s, t, v in zip(said, texts, vectors, strict=True)]

    def take(self, c: Connection, session_id: SessionId, prepared: Prepared, *, owner: str) -> Taken:
        """Store, index and remember one finished turn in the caller's transaction, step by step as the chat does."""
        conversations.add(c, session_id, at=prepared.said.user_at)
        turn = transcript.record_turn(c, session_id, prepared.said)
        said = turns.load_turn(c, turn) if turn is not None else None
        if said is None:
            return Taken(turn=turn, remembered=None)
        self._index(c, said, prepared.texts, claim_for=owner)
        situation = _load_situation(c, said.turn)
        if situation is None:
            return Taken(turn=turn, remembered=None)
        noticed = self._notice(situation, prepared.vectors)
        return Taken(turn=turn, remembered=self._store(c, situation, prepared.vectors, noticed))

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
        await loop.run_in_executor(self._files, lambda: self._twins.write(*written))
        await self._database.write(lambda c: [outbox.finish(c, turn, outbox.TWIN) for turn in numbers])

    async def remember(self, turn: TurnId) -> Remembered | None:
        """Vectors, segment and pending lines of an indexed turn, in one transaction; None if done before."""
        situation = await self._database.read(lambda c: _load_situation(c, turn))
        if situation is None:
            await self._database.write(lambda c: outbox.finish(c, turn, outbox.REMEMBER))
            return None
        (vectors,) = await self._embedder.embed([[row.content for row in situation.rows]])
        noticed = await self._in_pool(lambda: self._notice(situation, vectors))
        return await self._database.write(lambda c: self._store(c, situation, vectors, noticed))

    def _notice(self, situation: Situation, vectors: Vectors | None) -> Noticed:
        rules = BoundaryRules(
            max_turns=self._learning.max_turns_per_segment,
            max_gap_s=float(self._learning.max_time_gap_seconds),
            min_cosine=self._learning.min_cosine_similarity,
        )
        return remembering.notice(situation, vectors, rules, confirm_drift=self._learning.drift_confirm)

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

        def store(c: Connection) -> bool:
            now, current = self._clock(), segments.get(c, segment.id)
            if current is None or not current.is_open or current.last_turn != segment.last_turn:
                return False  # a turn came in between, or another process closed it
            language = conversations.load_language(c, segment.session_id) or "en"
            if current.held is not None:
                current = segmentation.split_held(c, current, language, now=now)
            return segmentation.close(c, current, language, closed_by=reason, now=now)

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
    return Situation(
        session_id=session_id,
        turn=turn,
        rows=rows,
        arrived=said.user.created_at,
        reply_end=said.reply.ended_at if said.reply else None,
        open_segment=segments.get_open(c, session_id),
        recent_texts=episodic.load_recent_texts(c, session_id, before=turn, limit=RECENT_TEXTS),
        recent_user_texts=episodic.load_recent_user_texts(c, session_id, before=turn, limit=RECENT_USER_TEXTS),
        version=memory_versions.get(c, session_id),
        pending=memory_versions.load_pending(c, session_id),
        language=conversations.load_language(c, session_id),
    )
