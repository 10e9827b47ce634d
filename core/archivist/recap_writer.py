"""Summing up with a model: a weak one picks sentences by number, one that passed the exam writes a passage.

Relies on `ChatModel` alone. What is written passes the evidence check against all that was said, also what did
not fit into the prompt; what is picked is verbatim. A model that fails costs the recap, never what was said.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.archivist.recap import DEADLINE_S
from core.archivist.recap_check import check_recap
from core.archivist.recap_text import pick
from core.errors import ModelError
from core.llm.port import (
    ChatMessage,
    ChatModel,
    ChoiceRequest,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
    Priority,
)
from core.model import RecapSource
from core.redaction import redact
from core.text.evidence import is_degenerate
from core.text.markup import strip_tool_markup
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.prompts import fill, load_parts, name_language
from core.working_memory.quotes import neutralise

Mode = Literal["select", "write"]

DEFAULT_WINDOW_TOKENS = 4_096  # of a model that does not say
FRAME_TOKENS = 350  # system text, marks and the question
SHRINK = 0.8  # when the model's own tokenizer counts more than the estimate did
LEAST_TOKENS = 24  # of a message that is shortened
PICKED = 4  # sentences
MODEL_SHARE = 2.0  # what a certain answer of a weak model counts, beside the worth of a sentence
WORDS_A_TOKEN = 0.7
_ECHO = re.compile(r"</?turns?\b|^\W*(?:user|assistant|用户|助手)\W*[:：]|^\[\d+\]", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapModel:
    """A model and what it may be asked: the verdict of its exam."""

    model: ChatModel
    mode: Mode
    languages: frozenset[str] | None = None  # in which its choices help; None: in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of what is summed up: who or what it is from, and its number or date."""

    kind: Literal["user", "assistant", "note"]
    mark: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be summed up. `max_tokens` of the recap; `prefix` names what shares its prompt."""

    parts: tuple[Part, ...]
    candidates: tuple[str, ...]
    worth: tuple[float, ...]
    max_tokens: int
    language: str
    prefix: str
    deadline_s: float = DEADLINE_S

    @property
    def source(self) -> str:
        return "\n".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """What came of it: text "" and the reason in `error`, for the user, if nothing usable did."""

    text: str
    source: RecapSource
    error: str = ""


async def sum_up(helper: RecapModel, task: Task) -> Summed:
    """Let a model sum something up within the deadline; never raises `ModelError`."""
    work = _write if helper.mode == "write" else _select
    if helper.languages is not None and (task.language or "en").split("-")[0] not in helper.languages:
        return Summed(text="", source=RecapSource.HEURISTIC, error="The model's choices do not help in this language.")
    try:
        async with asyncio.timeout(task.deadline_s):
            return await work(helper.model, task)
    except TimeoutError:
        error = f"The model did not finish within {task.deadline_s:.0f} s."
    except ModelError as failure:
        error = str(failure)
    return Summed(text="", source=RecapSource.HEURISTIC, error=error)


async def _write(model: ChatModel, task: Task) -> Summed:
    """Ask for a passage; half of the input if the first try gives none and time is left."""
    error = ""
    for share in (1.0, 0.5):
        try:
            written = await _generate(model, task, share)
        except ModelError as failure:
            error = str(failure)
            continue
        text = redact(strip_tool_markup(written)).strip()
        if not text or is_degenerate(text) or _ECHO.search(text):
            error = "The model's text said nothing of its own."
            continue
        usable = check_recap(task.source, text).usable
        if usable:
            return Summed(text=" ".join(usable.split()), source=RecapSource.MODEL)
        error = "The model's text held names or numbers that nobody said."
    return Summed(text="", source=RecapSource.HEURISTIC, error=error)


async def _generate(model: ChatModel, task: Task, share: float) -> str:
    room = int((_window(model) - task.max_tokens - FRAME_TOKENS) * share)
    words = str(max(20, int(task.max_tokens * WORDS_A_TOKEN)))
    messages = await _fit(model, task, room, fill(_parts(task)["write"], words=words), _window(model) - task.max_tokens)
    request = GenerationRequest(
        messages=messages,
        max_tokens=task.max_tokens,
        temperature=0.0,
        conversation=task.prefix,
        priority=Priority.BACKGROUND,
    )
    pieces: list[str] = []
    cut_off = False
    async for piece in model.generate(request):
        if isinstance(piece, GenerationPiece):
            pieces.append(piece.text)
        elif isinstance(piece, GenerationEnd):
            cut_off = piece.finish_reason == "length"
    text = "".join(pieces)
    return _whole_sentences(text) if cut_off else text


async def _select(model: ChatModel, task: Task) -> Summed:
    """Ask which of the numbered sentences says best what came of it; its answer counts beside their own worth."""
    if not task.candidates:
        return Summed(text="", source=RecapSource.HEURISTIC, error="No sentence of it stands on its own.")
    worth = list(task.worth)
    if len(task.candidates) > 1:
        listed = "\n".join(f"{i}. {neutralise(text)}" for i, text in enumerate(task.candidates, start=1))
        question = fill(_parts(task)["select"], sentences=listed)
        room = _window(model) - FRAME_TOKENS - estimate_tokens(question)
        messages = await _fit(model, task, room, question, _window(model) - 16)
        choices = tuple(str(i) for i in range(1, len(task.candidates) + 1))
        scores = await model.choose(ChoiceRequest(messages=messages, choices=choices, conversation=task.prefix))
        worth = [w + MODEL_SHARE * p for w, p in zip(worth, scores.probabilities, strict=True)]
    picked = pick(task.candidates, worth, PICKED, max_tokens=task.max_tokens)
    return Summed(text="\n".join(picked), source=RecapSource.SELECTED)


async def _fit(model: ChatModel, task: Task, room: int, question: str, limit: int) -> tuple[ChatMessage, ...]:
    """Build the prompt; shrink what is quoted until the model's own tokenizer agrees that it fits."""
    room = max(room, LEAST_TOKENS)
    while True:
        messages = _build(task, clamp([part.text for part in task.parts], room), question)
        if room <= LEAST_TOKENS or await model.count_tokens(messages) <= limit:
            return messages
        room = max(LEAST_TOKENS, int(room * SHRINK))


def clamp(texts: Sequence[str], room: int) -> list[str]:
    """Shorten texts evenly until they fit: short ones stay whole, what they leave the long ones share."""
    costs = [estimate_tokens(text) for text in texts]
    if sum(costs) <= room:
        return list(texts)
    left, rest, cap = room, len(costs), 0
    for cost in sorted(costs):
        cap = left // max(1, rest)
        if cost > cap:
            break
        left, rest = left - cost, rest - 1
    return [
        text if cost <= cap else truncate_tokens(text, max(cap, LEAST_TOKENS))
        for text, cost in zip(texts, costs, strict=True)
    ]


def _build(task: Task, texts: Sequence[str], question: str) -> tuple[ChatMessage, ...]:
    parts = _parts(task)
    lines = [
        f"[{part.mark}] {parts[part.kind]}: {neutralise(text)}" for part, text in zip(task.parts, texts, strict=True)
    ]
    framed = fill(parts["frame"], turns="\n".join(lines))
    return (
        ChatMessage(role="system", text=fill(parts["system"], language=name_language(task.language or "en"))),
        ChatMessage(role="user", text=f"{framed}\n\n{question}"),
    )


def _parts(task: Task) -> dict[str, str]:
    return dict(load_parts("recap", task.language or "en"))


def _window(model: ChatModel) -> int:
    return model.status.context_size_tokens or DEFAULT_WINDOW_TOKENS


def _whole_sentences(text: str) -> str:
    """Leave out the sentence that a full budget cut off."""
    end = max(text.rfind(stop) for stop in ".!?。！？")
    return text[: end + 1] if end > 0 else text
