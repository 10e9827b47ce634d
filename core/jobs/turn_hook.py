"""What happens to a finished turn: index, twin, vectors, segment, pending memory lines.

The hook reads the turn, redacts it once, and indexes it in one transaction whose commit is the
acknowledgement. What follows comes from the outbox, in turn order within a conversation, each
step idempotent by turn. It never runs on the interface's thread and never fails the chat.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from core.archivist.boundaries import BoundaryRules, stamp_turn
from core.archivist.lessons import draw_lesson, record_calls
from core.archivist.topic_shift import NEAR, Spoken, find_scorers
from core.archivist.twins import Twin, TwinWriter
from core.config import LearningSettings
from core.jobs import remembering, segmentation
from core.jobs.embedder_slot import EmbedderSlot
from core.jobs.reading import ReadAhead, Redacted, Talk
from core.jobs.reading_process import TurnReader
from core.jobs.remembering import Noticed, Situation, Vectors, count_kept
from core.model import BoundaryReason, Role, SaidTurn, SegmentId, SessionId, ToolCall, TurnId
from core.redaction import redact
from core.retrieval.indexing import put_messages
from core.sessions import transcript
from core.sessions.commit import KEEP_RECENT, update_counters
from core.storage import conversations, episodic, memory_versions, outbox, segments, tombstones, turns
from core.storage import vectors as stored_vectors
from core.storage.conversations import Standing
from core.storage.database import Connection, Database
from core.storage.episodic import EpisodicRow, Neighbour, Texts
from core.storage.memory_versions import Version
from core.storage.segments import SegmentRow
from core.storage.turns import Turn
from core.working_memory.heuristic_title import Phrases
from core.working_memory.reading import NOTHING_HEARD, TurnReading

T = TypeVar("T")

RECENT_USER_TEXTS = 6
READ_BACK = 2 * RECENT_USER_TEXTS  # messages before a turn
MOST_SIMILARITIES = 1_000  # of a user, for a threshold of their own
RECENT_TEXTS = 6  # both roles, for lexical drift (archivist.md section 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What came of a turn: what its conversation's memory may need next."""

    session_id: SessionId
    turn: TurnId
    kept: int
    closed: SegmentId | None
    waiting: int  # lines that the next commit takes in, but for title and state
    asked_to_remember: bool
    pending_tokens: int
    live_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Which turn ended, and when, in s; `reply_end` is None while there is no reply."""

    turn: TurnId
    session_id: SessionId
    arrived: float
    reply_end: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A finished turn, ready to be taken."""

    said: SaidTurn
    read: ReadAhead
    vectors: Vectors | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a finished turn; `turn` is None if it was there already."""

    turn: TurnId | None
    remembered: Remembered | None
    rows: tuple[EpisodicRow, ...] = ()  # as they were indexed


class TurnHook:
    """Runs the steps of one turn; the worker decides when."""

    def __init__(
        self,
        database: Database,
        *,
        twins: TwinWriter,
        embedder: EmbedderSlot,
        reader: TurnReader,
        pool: Executor,
        files: Executor,
        learning: LearningSettings,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._twins = twins
        self._embedder = embedder
        self._reader = reader
        self._pool = pool
        self._files = files
        self._learning = learning
        self._clock = clock
        # (conversation, its newest version) of the turn taken last: each turn of a transcript asks for it
        self._newest: tuple[SessionId, Version | None] = SessionId(""), None
        self._heard: dict[tuple[str, str], Phrases] = {}  # of the turns taken last

    def close(self) -> None:
        """End the threads and the process that help; after the worker, which uses them."""
        self._twins.close()
        self._reader.close()

    async def index(self, turn: TurnId) -> None:
        """Index a waiting turn: redacted rows and the steps that follow, in one transaction."""
        said = await self._database.read(lambda c: turns.load_turn(c, turn))
        if said is None:
            return
        texts = await self._in_pool(
            lambda: Redacted(user=redact(said.user.text), reply=redact(said.reply.text if said.reply else ""))
        )

        def write(c: Connection) -> None:
            finished = _as_finished(said)
            standing = self._claim(c, finished)
            if standing is not None:
                _put_rows(c, finished, texts)
                outbox.add(c, finished.session_id, turn)

        await self._database.write(write)

    def _claim(self, c: Connection, finished: Finished) -> Standing | None:
        """Claim a waiting turn and count it; None if another process has it or nothing may be remembered."""
        if not turns.set_hook_done(c, finished.turn):
            return None
        update_counters(c, finished.session_id)
        standing = conversations.load_standing(c, finished.session_id)
        return standing if standing is not None and self._is_wanted(standing) else None

    def _is_wanted(self, standing: Standing) -> bool:
        return standing.remember and self._learning.episodic_capture_enabled

    def expect(self, turns: int) -> None:
        """Say that so many turns of a transcript will come."""
        self._reader.expect(turns)

    async def prepare(self, said: Sequence[SaidTurn], talk: Talk) -> tuple[list[Prepared], Talk]:
        """Redact, read and embed finished turns of a transcript, ahead of `take`; `talk` is what led up to them.

        Returns what leads up to the turns that follow, too.
        """
        read, talk = await self._reader.read([(turn.user_text, turn.reply_text, turn.user_at) for turn in said], talk)
        vectors = await self._embedder.embed([each.texts.in_order() for each in read])
        return [Prepared(said=s, read=r, vectors=v) for s, r, v in zip(said, read, vectors, strict=True)], talk

    def take(self, c: Connection, session_id: SessionId, prepared: Prepared, *, owner: str) -> Taken:
        """Store, index and remember one finished turn in the caller's transaction, step by step as the chat does."""
        said = prepared.said
        turn = transcript.record_turn(c, session_id, said, claimed=True)
        if turn is None:
            return Taken(turn=None, remembered=None)
        standing = conversations.count_turn(c, session_id, turn, keep=KEEP_RECENT)
        if standing is None or not self._is_wanted(standing):
            return Taken(turn=turn, remembered=None)
        finished = Finished(
            turn=turn, session_id=session_id, arrived=said.user_at, reply_end=transcript.find_reply_end(said)
        )
        recent = episodic.load_recent(c, session_id, before=turn, limit=READ_BACK)
        before = recent[-1] if recent else None
        rows = episodic.append_turn(c, session_id, turn, _stamp(finished, prepared.read.texts), before=before)
        if said.tool_calls:
            rows = (*rows[:-1], _note_tools(c, rows[-1], said.tool_calls))
        # the step `remember` is done here and now; its row would come and go within the transaction
        outbox.add_leased(c, session_id, turn, outbox.TWIN, owner, now=self._clock())
        held = self._newest[1] if self._newest[0] == session_id else None
        self._newest = session_id, memory_versions.get_newest(c, session_id, held)
        situation = _read_situation(c, finished, rows, standing, recent, self._newest[1])
        if prepared.vectors is not None:
            situation = _with_vectors(c, situation, prepared.vectors.signature)
        noticed = self._notice(situation, prepared.vectors, prepared.read.reading)
        self._hear(noticed)
        return Taken(turn=turn, remembered=self._store(c, situation, prepared.vectors, noticed), rows=rows)

    async def publish_twins(self, numbers: Sequence[TurnId]) -> None:
        """Write the Markdown files of some turns; raises OSError, and the outbox tries again."""
        rows = await self._database.read(lambda c: [row for turn in numbers for row in episodic.load_turn(c, turn)])
        await self._write_twins(rows, numbers)

    async def sweep_twins(self) -> None:
        """Remove the temporary files that a crash left among the twins."""
        await asyncio.get_running_loop().run_in_executor(self._files, self._twins.sweep, self._clock())

    async def publish_taken(self, taken: Sequence[Taken]) -> None:
        """Do as `publish_twins` does for turns just taken, whose rows are at hand."""
        numbers = [each.turn for each in taken if each.turn is not None and each.rows]
        if numbers:
            await self._write_twins([row for each in taken for row in each.rows], numbers)

    async def _write_twins(self, rows: Sequence[EpisodicRow], numbers: Sequence[TurnId]) -> None:
        written = list(map(make_twin, rows))
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._files, lambda: self._twins.write(*written))
        await self._database.write(lambda c: outbox.finish_all(c, numbers, outbox.TWIN))

    async def remember(self, turn: TurnId, *, also: Callable[[Connection, Remembered], object]) -> Remembered | None:
        """Vectors, segment and pending lines of an indexed turn, in one transaction; None if done before.

        `also` belongs to the same transaction.
        """
        situation = await self._database.read(lambda c: _load_situation(c, turn))
        if situation is None:
            await self._database.write(lambda c: outbox.finish(c, turn, outbox.REMEMBER))
            return None
        (vectors,) = await self._embedder.embed([[row.content for row in situation.rows]])
        if vectors is not None:
            situation = await self._database.read(partial(_with_vectors, situation=situation, model=vectors.signature))
        noticed = await self._in_pool(lambda: self._notice(situation, vectors))

        def store(c: Connection) -> Remembered | None:
            if not outbox.finish(c, turn, outbox.REMEMBER):
                return None
            remembered = self._store(c, situation, vectors, noticed)
            also(c, remembered)
            return remembered

        return await self._database.write(store)

    def _hear(self, noticed: Noticed) -> None:
        """Keep what the turns after this one would read in it again."""
        key = (noticed.arrival.text, noticed.arrival.language)
        self._heard.pop(key, None)
        self._heard[key] = noticed.phrases
        if len(self._heard) > RECENT_USER_TEXTS:
            del self._heard[next(iter(self._heard))]

    def _notice(self, situation: Situation, vectors: Vectors | None, reading: TurnReading | None = None) -> Noticed:
        rules = BoundaryRules(
            max_turns=self._learning.max_turns_per_segment,
            max_gap_s=float(self._learning.max_time_gap_seconds),
            min_cosine=self._learning.min_cosine_similarity,
            similarities=situation.similarities,
        )
        return remembering.notice(
            situation,
            vectors,
            rules,
            confirm_drift=self._learning.drift_confirm,
            reading=reading,
            heard=self._heard if reading is not None else NOTHING_HEARD,
        )

    def _store(self, c: Connection, situation: Situation, vectors: Vectors | None, noticed: Noticed) -> Remembered:
        now = self._clock()
        if vectors is not None:
            pairs = zip(situation.rows, vectors.values, strict=True)
            found = [(row.id, value) for row, value in pairs if value]
            put_messages(c, vectors.signature, vectors.dimension, found)
        closed = segmentation.store(c, situation.open_segment, noticed.arrival, noticed.plan, now=now)
        memory_versions.add_pending(c, situation.session_id, situation.turn, noticed.lines)
        turns.set_outcome(c, situation.turn, kept=noticed.kept, similarity=noticed.plan.similarity)
        if noticed.arrival.language != situation.standing.language:
            conversations.set_language(c, situation.session_id, noticed.arrival.language)
        if noticed.title and noticed.title != situation.standing.title:
            conversations.rename(c, situation.session_id, noticed.title, by_user=False)
        if noticed.preview:
            conversations.set_preview(c, situation.session_id, noticed.preview)
        return Remembered(
            session_id=situation.session_id,
            turn=situation.turn,
            kept=noticed.kept,
            closed=closed,
            waiting=noticed.kept + count_kept(line.section for line in situation.pending),
            asked_to_remember=noticed.asked_to_remember,
            pending_tokens=situation.standing.pending_tokens,
            live_tokens=situation.standing.live_tokens,
        )

    async def close_segment(
        self, segment: SegmentRow, reason: BoundaryReason, *, also: Callable[[Connection], object]
    ) -> bool:
        """Close an open segment that no further turn will join; a held drift stands (archivist.md section 5).

        `also` belongs to the same transaction.
        """

        def store(c: Connection) -> bool:
            now, current = self._clock(), segments.get(c, segment.id)
            if current is None or not current.is_open or current.last_turn != segment.last_turn:
                return False  # a turn came in between, or another process closed it
            if current.held is not None:
                current = segmentation.split_held(c, current, now=now)
            closed = segments.close(c, current.id, closed_by=reason, now=now)
            if closed:
                also(c)
            return closed

        return await self._database.write(store)

    async def _in_pool(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)


def make_twin(row: EpisodicRow) -> Twin:
    """Return the Markdown twin of an indexed message."""
    return Twin(
        session_id=row.session_id,
        turn=row.turn,
        role=row.role,
        timestamp_ms=round(row.ts * 1000),
        text=row.content,
        lesson=row.lesson,
        tool_calls_json=row.tool_calls_json,
    )


def _put_rows(c: Connection, finished: Finished, texts: Redacted) -> tuple[EpisodicRow, ...]:
    """Write the index rows of a turn; FTS5 follows by trigger."""
    t = _stamp(finished, texts)
    return episodic.put_turn(
        c,
        finished.session_id,
        finished.turn,
        user=t.user,
        user_ts=t.user_ts,
        reply=t.reply,
        reply_ts=t.reply_ts,
    )


def _stamp(finished: Finished, texts: Redacted) -> Texts:
    times = stamp_turn(finished.arrived, finished.reply_end or finished.arrived)
    return Texts(user=texts.user, user_ts=times.user_ts, reply=texts.reply, reply_ts=times.assistant_ts)


def _note_tools(c: Connection, row: EpisodicRow, calls: Sequence[ToolCall]) -> EpisodicRow:
    """Keep what a turn's tools taught with its last row: the reply's, where there is one."""
    return episodic.put_tools(c, row, lesson=draw_lesson(calls), tool_calls_json=record_calls(calls, redact))


def _with_vectors(c: Connection, situation: Situation, model: str) -> Situation:
    """Add the user's last messages with their vectors: a held one and those before it.

    And how near messages are to their segments with this user, where no scorer knows the model.
    """
    found = stored_vectors.load_user_vectors(c, situation.session_id, model, before=situation.turn, limit=NEAR + 1)
    spoken = tuple((number, Spoken(text=text, vector=vector)) for number, text, vector in found)
    measured = () if find_scorers(model) else segments.load_similarities(c, model, limit=MOST_SIMILARITIES)
    return replace(situation, spoken=spoken, similarities=measured)


def _as_finished(said: Turn) -> Finished:
    return Finished(
        turn=said.turn,
        session_id=said.session_id,
        arrived=said.user.created_at,
        reply_end=said.reply.ended_at if said.reply else None,
    )


def _load_situation(c: Connection, turn: TurnId) -> Situation | None:
    """Read all that the decisions about a turn rest on; None if the turn is gone or in a segment already."""
    rows = episodic.load_turn(c, turn)
    if not rows or segments.contains_turn(c, rows[0].session_id, turn):
        return None
    said = turns.load_turn(c, turn)
    standing = conversations.load_standing(c, rows[0].session_id)
    if said is None or standing is None:
        return None
    recent = episodic.load_recent(c, said.session_id, before=turn, limit=READ_BACK)
    version = memory_versions.get(c, said.session_id)
    return _read_situation(c, _as_finished(said), rows, standing, recent, version)


def _read_situation(
    c: Connection,
    finished: Finished,
    rows: tuple[EpisodicRow, ...],
    standing: Standing,
    recent: Sequence[Neighbour],
    version: Version | None,
) -> Situation:
    """Read what else the decisions about an indexed turn rest on; `recent` are the messages before it."""
    session_id, turn = finished.session_id, finished.turn
    return Situation(
        session_id=session_id,
        turn=turn,
        rows=rows,
        arrived=finished.arrived,
        reply_end=finished.reply_end,
        open_segment=segments.get_open(c, session_id),
        recent_texts=tuple(said.text for said in recent[-RECENT_TEXTS:]),
        recent_user_texts=tuple(said.text for said in recent if said.role is Role.USER)[-RECENT_USER_TEXTS:],
        version=version,
        pending=memory_versions.load_pending(c, session_id),
        standing=standing,
        forgotten=tombstones.load_all(c),
    )
