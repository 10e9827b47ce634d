"""The step `goals`: after a usable recap, what the segment changes in MEMORY_GOALS.md.

Where no model may be asked there is seldom a usable recap; then the rules, which need none, look at every segment.

New goals, and changes of goals that the program wrote, are written; a change against a goal of the user's, a goal
that would go, and one for which there is no room wait as proposals. Each names its turns.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from core.archivist.entries import Heard, Witness
from core.archivist.goals import MOST_CHANGES, SCHEMA, GoalChange, find_by_rule, read_answer
from core.changes import Changes
from core.config import LearningSettings
from core.errors import ModelError
from core.jobs.finalise import FindModel
from core.jobs.memory_entries import WORKSPACE, MemoryKeeper
from core.llm.port import ChatMessage, ChatModel, GenerationPiece, GenerationRequest, Priority
from core.memory_files.goals import GOALS_FILE, Goal, GoalOp, GoalOutcome, edit_goals, read_goals
from core.memory_files.writer import Cause, MemoryFileWriter
from core.model import LineState, MemoryLine, Origin, Role, Section, SegmentId
from core.profile.forgetting import hide_forgotten
from core.redaction import redact
from core.redaction.spans import MARK_OPENING
from core.storage import goals as stored
from core.storage import memory_versions, recaps, tombstones
from core.storage.database import Connection, Database
from core.storage.queue import Job
from core.storage.recaps import Spoken, Stretch
from core.working_memory.prompts import fill, load_parts, name_language
from core.working_memory.quotes import neutralise

ANSWER_TOKENS = 300
SAID = "You spoke of this goal."
FULL = "There is room for eight goals; say which one may go."
YOURS = "The goal is yours, so it is only proposed."
ENDS = "It seems to be reached or given up."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    stretch: Stretch
    spoken: tuple[Spoken, ...]
    lines: tuple[MemoryLine, ...]
    next_number: int
    forgotten: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The list as it is: its goals, and the ids of those that the program wrote."""

    goals: tuple[Goal, ...]
    ours: frozenset[str]


class GoalKeeper:
    """Looks at segments with a usable recap, one at a time."""

    def __init__(
        self,
        database: Database,
        keeper: MemoryKeeper,
        *,
        learning: LearningSettings,
        find_model: FindModel,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._learning = learning
        self._find_model = find_model
        self._publish = publish
        self._clock = clock

    async def run(self, job: Job) -> None:
        """Change the list as the segment asks for it; each change once, also when the job is done again."""
        segment_id, revision = SegmentId(job.payload["segment"]), int(job.payload["revision"])
        read = await self._database.read(lambda c: _read(c, segment_id))
        if read is None or read.stretch.revision != revision or read.stretch.status == "open":
            return
        if read.stretch.status != "summarised" and await self._find_writer() is not None:
            return  # queued again when the recap is there
        held = await self._keeper.use(hold_goals)
        changes = await self._find(read, held)
        if changes and await self._carry_out(read, held, changes):
            self._publish(Changes(files=True))

    async def _find(self, read: _Read, held: _Held) -> tuple[GoalChange, ...]:
        """Ask a model that may write; without one, or if it fails, go by rule."""
        model = await self._find_writer()
        found: tuple[GoalChange, ...] | None = None
        if model is not None:
            try:
                async with asyncio.timeout(self._learning.recap_deadline_seconds):
                    found = await self._ask(model, read, held)
            except (ModelError, TimeoutError):
                found = None  # the rules see what the model would have been shown
        if found is None:
            found = find_by_rule(read.lines, held.goals, {each.turn for each in read.spoken})
        return tuple(each for each in found if not _is_barred(each.text, read.forgotten))

    async def _find_writer(self) -> ChatModel | None:
        helper = await self._find_model()
        return helper.model if helper is not None and helper.mode == "write" else None

    async def _ask(self, model: ChatModel, read: _Read, held: _Held) -> tuple[GoalChange, ...]:
        language = read.stretch.language or "en"
        parts, users = load_parts("goals", language), [each for each in read.spoken if each.role is Role.USER]
        listed = "\n".join(f"[{goal.id}] {neutralise(redact(goal.text))}" for goal in held.goals)
        turns = "\n".join(f"[{each.turn}] {parts['user']}: {neutralise(each.text)}" for each in users)
        request = GenerationRequest(
            messages=(
                ChatMessage("system", fill(parts["system"], language=name_language(language))),
                ChatMessage(
                    "user", fill(parts["ask"], goals=listed or parts["none"], turns=turns, most=str(MOST_CHANGES))
                ),
            ),
            max_tokens=ANSWER_TOKENS,
            temperature=0.0,
            conversation=f"goals:{read.stretch.id}",
            priority=Priority.BACKGROUND,
            json_schema=SCHEMA,
        )
        pieces = [piece.text async for piece in model.generate(request) if isinstance(piece, GenerationPiece)]
        witness = Witness([Heard(turn=each.turn, role=each.role, text=each.text) for each in read.spoken])
        return read_answer("".join(pieces), held.goals, witness, {each.turn: each.text for each in users})

    async def _carry_out(self, read: _Read, held: _Held, changes: Sequence[GoalChange]) -> bool:
        """Write what may be written, propose the rest; whether something came of it."""
        touched, waiting = False, list[tuple[GoalChange, str]]()
        for change in changes:
            if change.kind == "delete":
                waiting.append((change, ENDS))
            elif change.kind == "edit" and change.goal_id not in held.ours:
                waiting.append((change, YOURS))
            else:
                outcome = await self.write(change, next_number=read.next_number, why=SAID)
                touched = touched or outcome in (GoalOutcome.ADDED, GoalOutcome.EDITED)
                if outcome is GoalOutcome.FULL:
                    waiting.append((change, FULL))
        return await self._database.write(lambda c: _propose(c, waiting, at=self._clock())) or touched

    async def write(self, change: GoalChange, *, next_number: int, why: str) -> GoalOutcome:
        """Carry one change out under the write lock; one that the user once took back is refused."""
        op = GoalOp(id=change.goal_id or None, text=change.text or None)
        cause = Cause(at=self._clock(), actor=self._keeper.actor, cause=why, turns=change.turns)
        outcome, number = await self._keeper.use(partial(_write_once, op=op, cause=cause, next_number=next_number))
        await self._database.write(lambda c: stored.raise_next_number(c, WORKSPACE, number))
        return outcome


def hold_goals(writer: MemoryFileWriter) -> _Held:
    """Read the list and whose each goal is; on the files thread."""
    goals, own = read_goals(writer.read(GOALS_FILE)), writer.own_lines(GOALS_FILE)
    ours = frozenset(goal.id for goal in goals if f"- [{goal.id}] {goal.text}" in own)
    return _Held(goals=goals, ours=ours)


def _write_once(writer: MemoryFileWriter, *, op: GoalOp, cause: Cause, next_number: int) -> tuple[GoalOutcome, int]:
    if op.text is not None and _was_held(writer, op.text):
        return GoalOutcome.DUPLICATE, next_number
    _, done = edit_goals(writer, [op], cause, next_id=next_number, redact=redact)
    return done.outcomes[0], done.next_id


def _was_held(writer: MemoryFileWriter, text: str) -> bool:
    """Whether the list held a goal before: it is there, or was taken out."""
    return any(
        goal.text == text
        for change in writer.changes(GOALS_FILE)
        for goal in (*read_goals(change.before), *read_goals(change.after))
    )


def _propose(c: Connection, waiting: Sequence[tuple[GoalChange, str]], *, at: float) -> bool:
    made = [
        stored.propose(
            c, WORKSPACE, kind=each.kind, goal=each.goal_id, text=each.text, turns=each.turns, why=why, at=at
        )
        for each, why in waiting
    ]
    return any(made)


def _is_barred(text: str, forgotten: frozenset[str]) -> bool:
    """Whether a text holds something secret or forgotten."""
    return MARK_OPENING in text or redact(text) != text or hide_forgotten(text, forgotten) != text


def _read(c: Connection, segment_id: SegmentId) -> _Read | None:
    stretch = recaps.get(c, segment_id)
    if stretch is None:
        return None
    version = memory_versions.get(c, stretch.session_id)
    lines = version.lines.get(Section.GOALS, ()) if version is not None else ()
    pending = tuple(
        MemoryLine(text=each.text, origin=Origin.HEURISTIC, state=LineState.PENDING, turns=(each.turn,))
        for each in memory_versions.load_pending(c, stretch.session_id)
        if each.section is Section.GOALS
    )
    return _Read(
        stretch=stretch,
        spoken=recaps.load_spoken(c, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn),
        lines=(*(line for line in lines if line.state is not LineState.REMOVED), *pending),
        next_number=stored.get_next_number(c, WORKSPACE),
        forgotten=tombstones.load_all(c),
    )
