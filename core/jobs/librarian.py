"""The step `librarian`: what lasts of a segment that ended goes into the user's files, by a model and by rule.

A model that passed the exam is given the segment and the tools; every call is checked in code and only what the log
holds counts, whatever the model claims. The rules run in any case: what the user asked to remember, and facets that
two segments confirm. Everything is written once, so that a run that is done again changes nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from core.archivist.entries import Heard, Witness
from core.archivist.librarian import Definition, UserFile, build_prompt, load_definition, resolve_tools
from core.archivist.recap_writer import DEFAULT_WINDOW_TOKENS
from core.changes import Changes
from core.config import LearningSettings
from core.errors import ModelError
from core.jobs.finalise import FindModel
from core.jobs.librarian_tools import Desk, ToolFunction, ToolResult, describe_tools
from core.jobs.memory_entries import MemoryKeeper
from core.jobs.notebook import MEMORY_FILE, SKILL_FILE, Entry, write_entry
from core.llm.port import ChatMessage, ChatModel, GenerationPiece, GenerationRequest, Priority
from core.llm.thinking import strip_thinking
from core.llm.tool_calls import ToolCalls, parse_tool_calls
from core.memory_files.documents import Outcome, excerpt
from core.memory_files.writer import Cause, MemoryFileWriter
from core.model import FacetOrigin, Role, SegmentId, TurnId
from core.redaction import redact
from core.redaction.spans import MARK_OPENING
from core.storage import events, facets, recaps, tombstones
from core.storage.database import Connection, Database
from core.storage.events import EventRow
from core.storage.facets import FacetRow
from core.storage.queue import Job
from core.storage.recaps import Spoken, Stretch
from core.text.orders import COMMAND_CONFIDENCE
from core.text.statements import StatementKind
from core.working_memory.heuristic_lasting import find_lasting
from core.working_memory.prompts import fill, load_parts
from core.working_memory.quotes import neutralise

log = logging.getLogger(__name__)

ANSWER_TOKENS = 700
CONFIRMED_IN = 2  # segments
ASKED = "You asked to remember it."
CONFIRMED = "You said it in {} parts of your conversations."
BROKEN, UNREADABLE = "broken_json", "unreadable_call"
_LASTING_KINDS = (StatementKind.PREFERENCE, StatementKind.FACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run of a model came to; `written` is what is stored, not what was claimed."""

    rounds: int
    results: tuple[ToolResult, ...]
    answer: str  # the model's last words, cut to what the definition allows; never shown as a result

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(text for each in self.results for text in each.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A segment and what of the store concerns it."""

    stretch: Stretch
    spoken: tuple[Spoken, ...]
    events: tuple[EventRow, ...]
    facets: tuple[FacetRow, ...]
    forgotten: frozenset[str]


class Librarian:
    """Works on closed segments, one at a time."""

    def __init__(
        self,
        database: Database,
        keeper: MemoryKeeper,
        *,
        tools: Mapping[str, ToolFunction],
        learning: LearningSettings,
        find_model: FindModel,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._tools = tools
        self._learning = learning
        self._find_model = find_model
        self._publish = publish
        self._clock = clock
        self.missing = resolve_tools(tools).missing

    @property
    def problem(self) -> str:
        """Why the librarian is off, in words; "" while it works."""
        if not self.missing or not self._learning.librarian_enabled:
            return ""
        names = " and ".join(self.missing)
        return f"The librarian is off, because {names} cannot be found; everything else works."

    async def run(self, job: Job) -> None:
        """Keep what lasts of a segment with events or a usable recap, unless it changed since the job was queued."""
        if self.missing:
            return
        segment_id, revision = SegmentId(job.payload["segment"]), int(job.payload["revision"])
        read = await self._database.read(lambda c: _read(c, segment_id))
        if read is None or read.stretch.revision != revision or not read.spoken:
            return
        if not read.events and read.stretch.status != "summarised":
            return
        written = 0
        helper = await self._find_model()
        if helper is not None and helper.mode == "write":
            written += len((await self._ask_model(helper.model, read)).written)
        written += await self._apply_rules(read)
        if written:
            self._publish(Changes(files=True, profile=True, segments=frozenset({read.stretch.session_id})))

    # -- by a model ----------------------------------------------------------------------------

    async def _ask_model(self, model: ChatModel, read: _Read) -> Report:
        """Consult the model; one that fails costs what it would have added."""
        try:
            report = await self.consult(model, read.stretch, read.spoken, read.events)
        except (ModelError, TimeoutError) as error:
            log.info("the librarian's model gave up on segment %s: %s", read.stretch.id, type(error).__name__)
            return Report(rounds=0, results=(), answer="")
        refused = [each.reason for each in report.results if each.outcome is Outcome.REFUSED]
        log.info(
            "librarian: segment %s, %d rounds, %d written, refused: %s",
            *(read.stretch.id, report.rounds, len(report.written), ", ".join(refused) or "none"),
        )
        return report

    async def consult(
        self, model: ChatModel, stretch: Stretch, spoken: Sequence[Spoken], stated: Sequence[EventRow]
    ) -> Report:
        """Let a model work through a segment with its tools; raises `ModelError`, `TimeoutError`, file errors."""
        definition, tools = load_definition(), describe_tools(resolve_tools(self._tools).tools)
        parts = load_parts(definition.prompt, stretch.language or "en")
        messages = await self._build(model, stretch, spoken, stated)
        desk = _lay_out(stretch, spoken, self._clock())
        results: list[ToolResult] = []
        answer, rounds = "", 0
        while rounds < definition.max_iterations:
            rounds += 1
            async with asyncio.timeout(self._learning.recap_deadline_seconds):
                answer = await _generate(model, messages, definition, prefix=f"librarian:{stretch.id}")
            calls = parse_tool_calls(answer, tools)
            fresh = await self._carry_out(desk, calls)
            results += fresh
            if not fresh:
                break
            told = fill(parts["results"], results="\n".join(each.describe() for each in fresh))
            messages = (*messages, ChatMessage("assistant", answer), ChatMessage("user", told))
        return Report(rounds=rounds, results=tuple(results), answer=answer)

    async def _carry_out(self, desk: Desk, calls: ToolCalls) -> list[ToolResult]:
        """Run the calls of one answer in order; damaged ones write nothing."""
        results = [
            ToolResult(tool="", outcome=Outcome.REFUSED, reason=UNREADABLE, detail=problem[:200])
            for problem in calls.problems
        ]
        for call in calls.calls:
            if call.repaired:  # what was cut off may have said "not"
                results.append(ToolResult(tool=call.name, outcome=Outcome.REFUSED, reason=BROKEN))
            else:
                results.append(await self._tools[call.name](desk, call.arguments))
        return results

    async def _build(
        self, model: ChatModel, stretch: Stretch, spoken: Sequence[Spoken], stated: Sequence[EventRow]
    ) -> tuple[ChatMessage, ...]:
        """Build the prompt: the turns, or recap and events where they do not fit."""
        language = stretch.language or "en"
        parts = load_parts(load_definition().prompt, language)
        system = ChatMessage("system", await self._write_system(language))
        limit = (model.status.context_size_tokens or DEFAULT_WINDOW_TOKENS) - ANSWER_TOKENS
        whole = (system, ChatMessage("user", fill(parts["turns"], turns=_quote(spoken, parts))))
        if await model.count_tokens(whole) <= limit:
            return whole
        return (system, ChatMessage("user", fill(parts["recap"], turns=_sum_up(stretch, stated, parts))))

    async def _write_system(self, language: str) -> str:
        texts = {
            name: await self._keeper.use(partial(MemoryFileWriter.read, file=name))
            for name in (MEMORY_FILE, SKILL_FILE)
        }
        files = [
            UserFile(name=name, text=excerpt(redact(text), self._learning.memory_md_prompt_chars))
            for name, text in texts.items()
            if text.strip()
        ]
        workspace = fill(
            load_parts(load_definition().prompt, language)["workspace_text"],
            date=f"{datetime.fromtimestamp(self._clock()):%Y-%m-%d}",
            memory=f"{len(texts[MEMORY_FILE]):,}",
            skill=f"{len(texts[SKILL_FILE]):,}",
            budget=f"{self._learning.memory_md_budget_chars:,}",
        )
        return build_prompt(files, resolve_tools(self._tools).tools, workspace, language=language)

    # -- by rule -------------------------------------------------------------------------------

    async def _apply_rules(self, read: _Read) -> int:
        """Write what was asked to be remembered and what two segments confirm; returns how many entries are new."""
        written = 0
        for entry, why, turns in (*_find_orders(read.spoken), *_find_confirmed(read, self._learning)):
            cause = Cause(at=self._clock(), actor=self._keeper.actor, cause=why, turns=turns)
            work = partial(write_entry, entry=entry, cause=cause, forgotten=read.forgotten)
            result = await self._keeper.use(work)
            written += result.is_written
        return written


def _read(c: Connection, segment_id: SegmentId) -> _Read | None:
    stretch = recaps.get(c, segment_id)
    if stretch is None or stretch.status == "open":
        return None
    return _Read(
        stretch=stretch,
        spoken=recaps.load_spoken(c, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn),
        events=events.load_of_segment(c, segment_id),
        facets=tuple(each for each in facets.load_all(c) if segment_id in each.segments),
        forgotten=tombstones.load_all(c),
    )


def _lay_out(stretch: Stretch, spoken: Sequence[Spoken], at: float) -> Desk:
    heard = [Heard(turn=each.turn, role=each.role, text=each.text) for each in spoken]
    told = {each.turn: each.at for each in spoken if each.role is Role.USER}
    return Desk(stretch=stretch, witness=Witness(heard), at=at, told_at=told)


async def _generate(model: ChatModel, messages: tuple[ChatMessage, ...], definition: Definition, *, prefix: str) -> str:
    """Return an answer, no longer than the definition allows: the model is stopped there."""
    request = GenerationRequest(
        messages=messages,
        max_tokens=ANSWER_TOKENS,
        temperature=definition.temperature,
        conversation=prefix,
        priority=Priority.BACKGROUND,
    )
    text = ""
    async with aclosing(model.generate(request)) as answer:
        async for piece in answer:
            if isinstance(piece, GenerationPiece):
                text += piece.text
            if len(text) >= definition.max_result_characters:
                break
    return strip_thinking(text)[: definition.max_result_characters]


def _quote(spoken: Sequence[Spoken], parts: Mapping[str, str]) -> str:
    return "\n".join(
        f"[{each.turn}] {parts['user' if each.role is Role.USER else 'assistant']}: {neutralise(each.text)}"
        for each in spoken
    )


def _sum_up(stretch: Stretch, stated: Sequence[EventRow], parts: Mapping[str, str]) -> str:
    lines = [f"{parts['note']}: {neutralise(stretch.summary)}"] if stretch.status == "summarised" else []
    lines += [f"[{each.turns[0]}] {parts['user']}: {neutralise(each.text)}" for each in stated if each.turns]
    return "\n".join(lines)


def _find_orders(spoken: Sequence[Spoken]) -> list[tuple[Entry, str, tuple[TurnId, ...]]]:
    """Return what the user asked to remember."""
    return [
        (Entry(category=str(line.kind), text=line.text), ASKED, (each.turn,))
        for each in spoken
        if each.role is Role.USER
        for line in find_lasting(each.text)
        if line.confidence >= COMMAND_CONFIDENCE and redact(line.text) == line.text and MARK_OPENING not in line.text
    ]


def _find_confirmed(read: _Read, learning: LearningSettings) -> list[tuple[Entry, str, tuple[TurnId, ...]]]:
    """Return the facets of the segment that hold, that nothing contradicts, and that another segment confirms."""
    found = []
    for row in read.facets:
        if row.ended_at is not None or row.contradictions or len(row.segments) < CONFIRMED_IN:
            continue
        if row.kind not in _LASTING_KINDS or (row.origin == FacetOrigin.INFERRED and not learning.enabled):
            continue
        if MARK_OPENING in row.value:
            continue
        former = tuple(each.value for each in row.history)
        entry = Entry(category=row.kind, text=row.value, former=former)
        turns = tuple(dict.fromkeys(each.turn for each in row.evidence))
        found.append((entry, CONFIRMED.format(len(row.segments)), turns))
    return found
