"""The memory exam: what is a chat model good for when memory is updated?

Some twenty to sixty seconds of questions about built-in conversations, in English and Chinese. It measures
whether the model can write (valid calls, lines that hold up, lines worth keeping) and whether its choices help:
they must beat the heuristics alone and as many sentences chosen by rank without any model, language by language
and question by question. What does not help is not used.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from core.llm.port import ChatMessage, ChatModel, GenerationEnd, GenerationPiece, GenerationRequest, Priority
from core.model import ExamResult, Section, TurnId
from core.text.keys import item_key
from core.working_memory.candidates import Rank, is_said_by, rank_by_worth
from core.working_memory.exam_questions import LANGUAGES, ExamConversation, load_exam
from core.working_memory.heuristics import Proposal
from core.working_memory.line_checks import Sources, static_lines
from core.working_memory.operations_schema import is_valid_section, section_parameters
from core.working_memory.prompts import fill, load_parts
from core.working_memory.recovery import recover_operations
from core.working_memory.selecting import Questions, Selection, Selector
from core.working_memory.thinking import think_in
from core.working_memory.update_prompt import NAME, UpdatePrompt, ask, build_update_prompt
from core.working_memory.vetting import Vetted, vet

CONTEXT_TOKENS = 2048  # what the exam's prompts are built for; every model has as much
LIMIT_S = 240.0  # for a busy machine; a quiet one needs about a minute
WRITING_TOKENS = 160  # of an answer
PAIRS = 1  # of statements a conversation, asked which is newer: shown, but no part of the verdict
WRITTEN = (Section.FACTS, Section.ISSUES)
LEAST_VALID = 0.9
LEAST_SUPPORTED = 0.9
LEAST_WRITTEN_RECALL = 0.4
LEAST_SPEED = 4.0  # tokens/s; slower models would write for minutes
# of F1 over the better of heuristics and rank, about three sentences of thirty: less may be chance. The bundled 135M
# model gains 0.045 in English, and on turns of LoCoMo its opinion is worth less than their length.
LEAST_GAIN = 0.08
LEAST_ISSUES_GAINED = 2

Progress = Callable[[str], None]


@dataclass(slots=True)
class _Tally:
    """What was kept against what is worth keeping."""

    right: int = 0
    kept: int = 0
    worth: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.kept if self.kept else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.worth if self.worth else 0.0

    @property
    def f1(self) -> float:
        total = self.kept + self.worth
        return 2 * self.right / total if total else 0.0

    def add(self, other: "_Tally") -> None:
        self.right, self.kept, self.worth = self.right + other.right, self.kept + other.kept, self.worth + other.worth


@dataclass(slots=True)
class _Choices:
    """One language's choices."""

    alone: _Tally = field(default_factory=_Tally)
    ranked: _Tally = field(default_factory=_Tally)
    chosen: _Tally = field(default_factory=_Tally)
    issues: int = 0
    settled_alone: int = 0
    settled: int = 0
    pairs: int = 0
    newer: int = 0

    @property
    def keep_helps(self) -> bool:
        return self.chosen.f1 >= max(self.alone.f1, self.ranked.f1) + LEAST_GAIN

    @property
    def settled_helps(self) -> bool:
        return self.settled >= self.settled_alone + LEAST_ISSUES_GAINED


@dataclass(slots=True)
class _Writing:
    calls: int = 0
    valid: int = 0
    lines: int = 0
    supported: int = 0
    worth: int = 0
    recalled: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def is_hopeless(self) -> bool:
        """Whether what was written so far cannot be made good: a broken call, or most lines without evidence."""
        return self.valid < self.calls or self.supported * 2 < self.lines

    @property
    def passes(self) -> bool:
        """Whether the model may write: valid, true, worth it, and in bearable time."""
        return (
            self.calls > 0
            and self.valid >= LEAST_VALID * self.calls
            and self.lines >= self.calls
            and self.supported >= LEAST_SUPPORTED * self.lines
            and self.recalled >= LEAST_WRITTEN_RECALL * self.worth
            and self.tokens >= LEAST_SPEED * self.seconds
        )


class Exam:
    """One sitting. `clock` counts seconds; `rank` is what sentences are ranked by in the product; `pool` runs what
    takes thought.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        clock: Callable[[], float],
        rank: Rank | None = None,
        pool: Executor | None = None,
        on_progress: Progress | None = None,
        limit_s: float = LIMIT_S,
        languages: Sequence[str] = LANGUAGES,
    ) -> None:
        self._model = model
        self._clock = clock
        self._rank = rank or rank_by_worth
        self._think = think_in(pool)
        self._say = on_progress or (lambda _: None)
        self._limit_s = limit_s
        self._languages = tuple(languages)
        self._writing = _Writing()
        self._choices = {language: _Choices() for language in self._languages}
        self._complete = True

    async def take(self, *, model_name: str, sha256: str, at: float) -> ExamResult:
        """Ask everything and judge. Raises `ModelError` where the model does not answer at all."""
        begun = self._clock()
        for language in self._languages:
            if self._writing.is_hopeless:
                break
            self._say(f"writing ({language})")
            await self._write(load_exam(language)[0])
        for language in self._languages:
            for conversation in load_exam(language):
                if self._clock() - begun > self._limit_s:
                    self._complete = False
                    break
                self._say(f"choosing ({language}: {conversation.id})")
                await self._choose(conversation, self._choices[language])
        return self._judge(model_name=model_name, sha256=sha256, at=at, took_s=self._clock() - begun)

    # -- writing -------------------------------------------------------------------------------

    async def _write(self, conversation: ExamConversation) -> None:
        """Let the model write two sections of one conversation."""
        parts = load_parts(NAME, conversation.language)
        sources, prompt = await self._think(lambda: _set_writing(conversation, parts))
        written: list[str] = []
        for section in WRITTEN:
            question = fill(parts["section"], section=section.value)
            messages = (
                ChatMessage(role="system", text=prompt.system),
                ChatMessage(role="user", text=ask(prompt, question)),
            )
            text = await self._generate(messages)
            self._writing.calls += 1
            valid, answers = await self._think(partial(_read_answer, section, text, sources))
            self._writing.valid += valid
            for answer in answers:
                self._writing.lines += len(answer.lines) + len(answer.dropped)
                self._writing.supported += len(answer.lines)
                written += [line.text for line in answer.lines]
        worth = [sentence for sentence in conversation.sentences if sentence.keep]
        self._writing.worth += len(worth)
        self._writing.recalled += sum(any(is_said_by(line, s.text) for line in written) for s in worth)

    async def _generate(self, messages: tuple[ChatMessage, ...]) -> str:
        request = GenerationRequest(
            messages=messages,
            max_tokens=WRITING_TOKENS,
            temperature=0.0,
            conversation="exam-write",
            priority=Priority.BACKGROUND,
            json_schema=json.dumps(section_parameters(), ensure_ascii=False),
        )
        pieces: list[str] = []
        async with aclosing(self._model.generate(request)) as answer:
            async for piece in answer:
                if isinstance(piece, GenerationPiece):
                    pieces.append(piece.text)
                elif isinstance(piece, GenerationEnd):
                    self._writing.tokens += piece.new_tokens
                    self._writing.seconds += piece.generation_s
        return "".join(pieces)

    # -- choosing ------------------------------------------------------------------------------

    async def _choose(self, conversation: ExamConversation, tally: _Choices) -> None:
        """Let the model choose sentences, settled issues and newer statements of one conversation."""
        material = await self._think(lambda: conversation.material(context_tokens=CONTEXT_TOKENS))
        selector = Selector(
            self._model,
            material,
            Sources(material),
            rank=self._rank,
            conversation="exam",
            max_questions=10_000,
        )
        selection = Selection()
        await self._think(selector.prepare)
        await selector.select(selection)
        await self._think(lambda: selector.keep_best(selection))
        chosen = [p for p in selection.proposals if p.section is Section.FACTS]
        ranked = [p for p in selector.rank_only(len(chosen)) if p.section is Section.FACTS]
        tally.alone.add(_score(conversation, material.proposals))
        tally.ranked.add(_score(conversation, (*material.proposals, *ranked)))
        tally.chosen.add(_score(conversation, (*material.proposals, *chosen)))
        tally.issues += len(conversation.issues)
        tally.settled_alone += _count_settled(conversation, material.proposals)
        tally.settled += _count_settled(conversation, (*material.proposals, *selection.proposals))
        questions = Questions(self._model, conversation.language, conversation="exam")
        for older, newer in conversation.pairs[:PAIRS]:
            tally.pairs += 1
            tally.newer += await questions.second_is_newer(older, newer) > 0

    # -- judging -------------------------------------------------------------------------------

    def _judge(self, *, model_name: str, sha256: str, at: float, took_s: float) -> ExamResult:
        alone, ranked, chosen = _Tally(), _Tally(), _Tally()
        useful: list[str] = []
        for language, tally in self._choices.items():
            alone.add(tally.alone)
            ranked.add(tally.ranked)
            chosen.add(tally.chosen)
            useful += [f"{language}:keep"] if tally.keep_helps else []
            useful += [f"{language}:settled"] if tally.settled_helps else []
        issues = sum(tally.issues for tally in self._choices.values())
        pairs = sum(tally.pairs for tally in self._choices.values())
        writing = self._writing
        verdict = "write" if writing.passes else "select" if useful and self._complete else "off"
        return ExamResult(
            model=model_name,
            sha256=sha256,
            taken_at=at,
            took_s=took_s,
            verdict=verdict,
            sentence=_tell(verdict, useful, chosen, alone, complete=self._complete),
            useful=tuple(useful),
            tokens_per_s=writing.tokens / writing.seconds if writing.seconds else None,
            valid_calls=_share(writing.valid, writing.calls),
            supported_items=_share(writing.supported, writing.lines),
            written_recall=_share(writing.recalled, writing.worth),
            resolved_accuracy=_share(sum(t.settled for t in self._choices.values()), issues),
            resolved_accuracy_alone=_share(sum(t.settled_alone for t in self._choices.values()), issues),
            newer_accuracy=_share(sum(t.newer for t in self._choices.values()), pairs),
            kept_f1=chosen.f1,
            kept_f1_ranked=ranked.f1,
            kept_f1_alone=alone.f1,
            kept_precision=chosen.precision,
            kept_recall=chosen.recall,
            complete=self._complete,
        )


def _set_writing(conversation: ExamConversation, parts: Mapping[str, str]) -> tuple[Sources, UpdatePrompt]:
    """What the questions about a conversation are asked with, and what their answers are checked against."""
    material = conversation.material(context_tokens=CONTEXT_TOKENS)
    return Sources(material, prompt_lines=static_lines(parts)), build_update_prompt(material)


def _read_answer(section: Section, text: str, sources: Sources) -> tuple[bool, list[Vetted]]:
    """Whether an answer is a valid call, and what of it holds up."""
    found = recover_operations(f'{{"{section.value}": {text}')
    answers = [vet(name, value, sources, cut=name in found.truncated) for name, value in found.operations.items()]
    return is_valid_section(_decode(text)), answers


def _score(conversation: ExamConversation, proposals: Sequence[Proposal]) -> _Tally:
    """Match lines with the sentences they come from; a title or state keeps nothing."""
    kept: set[tuple[TurnId, str]] = set()
    for proposal in proposals:
        if proposal.section in (Section.TITLE, Section.STATE) or proposal.replaces is not None:
            continue
        near = [s for s in conversation.sentences if s.turn in proposal.turns and is_said_by(proposal.text, s.text)]
        exact = [s for s in near if item_key(s.text) == item_key(proposal.text)]
        kept |= {(s.turn, s.text) for s in (exact or near)[:1]}
    worth = {(s.turn, s.text) for s in conversation.sentences if s.keep}
    return _Tally(right=len(kept & worth), kept=len(kept), worth=len(worth))


def _count_settled(conversation: ExamConversation, proposals: Sequence[Proposal]) -> int:
    closed = {proposal.replaces for proposal in proposals if proposal.section is Section.ISSUES}
    return sum((issue in closed) == settled for issue, settled in conversation.issues)


def _decode(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


_LANGUAGE_NAMES = {"en": "English", "zh": "Chinese"}


def _tell(verdict: str, useful: Sequence[str], chosen: _Tally, alone: _Tally, *, complete: bool) -> str:
    """One sentence for the list of models."""
    if verdict == "write":
        return "Writes memory itself; every line is checked against what was said."
    if verdict == "select":
        languages = " and ".join(dict.fromkeys(_LANGUAGE_NAMES.get(u.split(":")[0], u) for u in useful))
        gain = f" (finds {chosen.recall:.0%} of what matters, {alone.recall:.0%} without it)"
        what = gain if any(u.endswith("keep") for u in useful) else ""
        return f"Too weak to write memory, but its choices help in {languages}{what}."
    if not complete:
        return "Too slow here to help with memory; memory is kept without it."
    return "Good for chat; for memory it is no better than the program alone, so memory is kept without it."
