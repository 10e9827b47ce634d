"""Answers as steps that may be interrupted anywhere: a generation, or the probabilities of a few choices.

A step is a token, or a batch of the prompt. Between steps, and when the computation was aborted, another request may
use the context; whoever goes on afterwards finds its prefix again and computes what is missing. Runs in the model
process only.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from core.llm.choices import Tokens, list_questions, score_choices
from core.llm.llama import BATCH_TOKENS, LlamaRunner
from core.llm.port import (
    ChoiceRequest,
    ChoiceScores,
    FinishReason,
    GenerationEnd,
    GenerationRequest,
    Priority,
    PromptTooLongError,
)
from core.llm.prefixes import Owner, Prefixes
from core.llm.sampling import Sampler
from core.llm.thinking import ThinkFilter
from core.llm.vocabulary import TextDecoder

ANSWER_ROOM_TOKENS = 64  # what a prompt must leave for the answer, unless fewer are asked for
BACKGROUND_BATCH_TOKENS = 128  # what an interruption throws away at most: half a second of the bundled model's reading


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of an answer, or of the thought before it."""

    text: str
    thought: bool = False


Step = Piece | None  # None: something was computed, or an interruption ended it
OnReading = Callable[[int, int], None]  # tokens known, tokens of the prompt; before each batch


@dataclass(slots=True)
class Turn:
    """One request's hold on the context."""

    owner: Owner
    on_reading: OnReading
    cancelled: bool = False  # set by another thread
    reused: int | None = None  # tokens of the prompt, when it began
    started_s: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    prompt: int
    prompt_s: float
    started_s: float  # when the answer began, on the performance counter


class Answerer:
    """Answers requests with one context; several may be under way, one computes at a time."""

    def __init__(self, runner: LlamaRunner, prefixes: Prefixes) -> None:
        self._runner = runner
        self._prefixes = prefixes
        self._holder: Turn | None = None  # who computed last: the context and its logits are as that one left them

    def release(self) -> None:
        """Let the next step of any request look for its prefix anew; for whoever changes the context in between."""
        self._holder = None

    def generate(self, request: GenerationRequest, turn: Turn) -> Generator[Step, None, GenerationEnd]:
        """Yield the answer as it comes; return its end. Raises `PromptTooLongError`, `GrammarError`."""
        form = bool(request.json_schema or request.grammar)
        encoded = self._runner.vocabulary.encode_prompt(
            request.messages, thinks=not form and request.priority is Priority.CHAT
        )
        prompt = encoded.tokens
        self._check(len(prompt), max(1, min(request.max_tokens, ANSWER_ROOM_TOKENS)))
        thoughts = None if form else ThinkFilter(inside=encoded.opens_thought)
        sampler = Sampler(request, self._runner.vocabulary)
        try:
            whole = yield from self._evaluate(turn, prompt, len(prompt))
            now = time.perf_counter()
            counts = _Counts(prompt=len(prompt), prompt_s=now - turn.started_s, started_s=now)
            if not whole:
                return self._end("cancelled", turn, counts, 0)
            return (yield from self._write(request.max_tokens, turn, prompt, counts, sampler, thoughts))
        finally:
            sampler.close()

    def choose(self, request: ChoiceRequest, turn: Turn) -> Generator[Step, None, ChoiceScores | None]:
        """Return the choices' probabilities, or None if cancelled."""
        prompt, choices = self._runner.vocabulary.encode_choices(request.messages, request.choices)
        if len(set(choices)) < max(2, len(choices)) or not all(choices):
            raise ValueError("choices must be two or more, different, and not empty")
        self._check(len(prompt), max(map(len, choices)))
        asked: dict[Tokens, dict[int, float]] = {}
        prompt_s = 0.0
        for beginning in list_questions(choices):  # each after its own beginning: what is known up to there fits
            if beginning and self._holder is turn:
                self._runner.rewind(len(prompt) + len(beginning) - 1)
            if not (yield from self._evaluate(turn, prompt + list(beginning), len(prompt))):
                return None
            length = len(beginning)
            prompt_s = prompt_s or time.perf_counter() - turn.started_s
            asked[beginning] = self._runner.read_log_probabilities(
                {c[length] for c in choices if len(c) > length and c[:length] == beginning}
            )
        return ChoiceScores(
            probabilities=score_choices(choices, asked),
            prompt_tokens=len(prompt),
            reused_tokens=turn.reused or 0,
            prompt_s=prompt_s,
        )

    def _check(self, prompt_tokens: int, room_tokens: int) -> None:
        limit = self._runner.context_tokens - room_tokens
        if prompt_tokens > limit:
            raise PromptTooLongError(prompt_tokens=prompt_tokens, limit_tokens=limit)

    def _evaluate(self, turn: Turn, tokens: list[int], prompt_tokens: int) -> Generator[None, None, bool]:
        """Bring the context to just after `tokens`; return False if cancelled."""
        runner = self._runner
        size = BATCH_TOKENS if turn.owner.chat else BACKGROUND_BATCH_TOKENS
        while not turn.cancelled:
            if self._holder is not turn:
                known = self._prefixes.enter(turn.owner, tokens)
                self._holder = turn
                if turn.reused is None:
                    turn.reused = min(known, prompt_tokens)
            at = len(runner.known)
            if at == len(tokens):
                return True
            if at < prompt_tokens:
                turn.on_reading(at, prompt_tokens)
            if not runner.decode(tokens[at : at + size]) or len(runner.known) < len(tokens):
                yield None
        return False

    def _write(
        self,
        max_tokens: int,
        turn: Turn,
        prompt: list[int],
        counts: _Counts,
        sampler: Sampler,
        thoughts: ThinkFilter | None,
    ) -> Generator[Step, None, GenerationEnd]:
        runner, vocabulary = self._runner, self._runner.vocabulary
        decoder = TextDecoder()
        tokens = list(prompt)
        new = 0
        reason: FinishReason = "cancelled"
        while not turn.cancelled:
            if new >= max_tokens or len(tokens) >= runner.context_tokens:
                reason = "length"
                break
            if not (yield from self._evaluate(turn, tokens, len(prompt))):
                break
            token = runner.sample(sampler)
            if vocabulary.is_end(token):
                reason = "stop"
                break
            new += 1
            tokens.append(token)
            text = decoder.feed(vocabulary.piece(token))
            yield from _split(text, thoughts)
        if thoughts is not None:
            yield from _list_pieces(*thoughts.finish())
        return self._end(reason, turn, counts, new)

    def _end(self, reason: FinishReason, turn: Turn, counts: _Counts, new: int) -> GenerationEnd:
        return GenerationEnd(
            finish_reason=reason,
            prompt_tokens=counts.prompt,
            reused_tokens=turn.reused or 0,
            new_tokens=new,
            prompt_s=counts.prompt_s,
            generation_s=time.perf_counter() - counts.started_s,
            context_used_tokens=counts.prompt + new if new else len(self._runner.known),
        )


def _split(text: str, thoughts: ThinkFilter | None) -> Generator[Step, None, None]:
    """Yield the pieces of a new text; None if there is nothing to say yet."""
    if thoughts is None:
        answer, thought = text, ""
    else:
        answer, thought = thoughts.feed(text)
    if not answer and not thought:
        yield None
    yield from _list_pieces(answer, thought)


def _list_pieces(answer: str, thought: str) -> Generator[Step, None, None]:
    if thought:
        yield Piece(thought, thought=True)
    if answer:
        yield Piece(answer)
