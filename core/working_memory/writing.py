"""Write mode: a model that can be trusted with text proposes the operations of all seven sections.

One call for all sections first; what it left out, cut off or made up is asked for again, a section at a
time, on the same shared prompt. Relies on `core.working_memory.vetting` for what may pass, and on the
caller for what happens where a section got no answer.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from core.errors import ModelError
from core.llm.port import (
    ChatMessage,
    ChatModel,
    GenerationPiece,
    GenerationRequest,
    Priority,
    PromptTooLongError,
)
from core.model import Section
from core.working_memory.line_checks import Sources
from core.working_memory.material import Failure, Material
from core.working_memory.operations import Keep
from core.working_memory.operations_schema import is_valid, section_parameters, tool_parameters
from core.working_memory.prompts import fill, load_parts
from core.working_memory.recovery import Recovered, recover_operations
from core.working_memory.thinking import Think
from core.working_memory.update_prompt import NAME, UpdatePrompt, ask, build_update_prompt
from core.working_memory.vetting import Vetted, vet

ATTEMPTS = 3  # of a request whose model failed (working-memory rule 1)
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 8.0
WHOLE_TOKENS = 1500  # of an answer; never more than half of the window
SECTION_TOKENS = 500
_SHRINK = 0.8
_LEAST_SCALE = 0.3

Pause = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class Written:
    """What a model wrote so far; `answered` are the sections that need not be asked for again."""

    answers: dict[Section, Vetted] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    valid_calls: int = 0
    calls: int = 0

    @property
    def answered(self) -> set[Section]:
        """Sections with a sound answer."""
        return {section for section, answer in self.answers.items() if answer.is_sound}

    def take(self, section: Section, answer: Vetted) -> None:
        """Keep the better of two answers: sound before not, then the one with more lines."""
        before = self.answers.get(section)
        if before is None or (answer.is_sound, len(answer.lines)) > (before.is_sound, len(before.lines)):
            self.answers[section] = answer


class Writer:
    """Asks one model for the text of one update."""

    def __init__(
        self,
        model: ChatModel,
        material: Material,
        sources: Sources,
        *,
        conversation: str,
        think: Think,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._model = model
        self._material = material
        self._sources = sources
        self._conversation = conversation
        self._think = think
        self._pause = pause
        self._parts = load_parts(NAME, material.language)
        self._prompt = UpdatePrompt(system="", frame="")

    @property
    def prompt(self) -> UpdatePrompt:
        """The part that all questions share; empty before `prepare`."""
        return self._prompt

    async def prepare(self) -> None:
        """Build the prompt; shrink it until by the model's own tokenizer it takes half of the window at most."""
        scale = 1.0
        self._prompt = await self._think(lambda: build_update_prompt(self._material))
        limit = self._material.context_tokens // 2
        while await self._model.count_tokens(self._messages(self._parts["whole"])) > limit and scale > _LEAST_SCALE:
            scale *= _SHRINK
            self._prompt = await self._think(partial(build_update_prompt, self._material, scale=scale))

    async def write(self) -> Written:
        """Ask for everything, then for what is missing; never raises `ModelError`."""
        written = Written()
        if not await self._write_whole(written):
            return written  # a model that does not answer once is not asked seven times more
        for section in Section:
            if section not in written.answered and not await self._write_section(section, written):
                break
        return written

    async def write_document(self) -> str:
        """Ask for a first document as Markdown; "" if the model does not answer."""
        try:
            return await self._generate(self._parts["creation"], schema="", max_tokens=WHOLE_TOKENS)
        except ModelError:
            return ""

    async def _write_whole(self, written: Written) -> bool:
        """Ask for all sections; False if the model does not answer."""
        schema = json.dumps(tool_parameters(), ensure_ascii=False)
        try:
            text = await self._generate(self._parts["whole"], schema=schema, max_tokens=WHOLE_TOKENS)
        except ModelError as error:
            written.failures.append(Failure(part="whole update", reason=str(error)))
            return False
        written.calls += 1
        written.valid_calls += _is_valid_call(text)
        found = recover_operations(text)
        for section, answer in (await self._think(lambda: self._read(found))).items():
            written.take(section, answer)
        if missing := [section.value for section in Section if section not in found.operations]:
            written.failures.append(Failure(part="whole update", reason=f"It lacked {', '.join(missing)}."))
        return True

    async def _write_section(self, section: Section, written: Written) -> bool:
        """Ask for one section; False if the model does not answer any more."""
        question = fill(self._parts["section"], section=section.value)
        schema = json.dumps(section_parameters(), ensure_ascii=False)
        try:
            text = await self._generate(question, schema=schema, max_tokens=SECTION_TOKENS)
        except ModelError as error:
            written.failures.append(Failure(part=section.value, reason=str(error)))
            return False
        found = recover_operations(f'{{"{section.value}": {text}')
        answer = (await self._think(lambda: self._read(found))).get(section)
        if answer is None:
            written.failures.append(Failure(part=section.value, reason="The answer could not be read."))
        else:
            written.take(section, answer)
            if not answer.is_sound:
                reason = answer.dropped[0].reason if answer.dropped else "The answer was cut off."
                written.failures.append(Failure(part=section.value, reason=reason))
        return True

    def _read(self, found: Recovered) -> dict[Section, Vetted]:
        """Check what was recovered; text that says nothing at all is no answer."""
        answers: dict[Section, Vetted] = {}
        for section, value in found.operations.items():
            answer = vet(section, value, self._sources, cut=section in found.truncated)
            if isinstance(value, Keep) or answer.lines or answer.dropped:
                answers[section] = answer
        return answers

    def _messages(self, question: str) -> tuple[ChatMessage, ...]:
        return (
            ChatMessage(role="system", text=self._prompt.system),
            ChatMessage(role="user", text=ask(self._prompt, question)),
        )

    async def _generate(self, question: str, *, schema: str, max_tokens: int) -> str:
        """Return the model's answer; failures are tried again, a prompt that is too long is not."""
        request = GenerationRequest(
            messages=self._messages(question),
            max_tokens=min(max_tokens, self._material.context_tokens // 2),
            temperature=0.0,
            conversation=self._conversation,
            priority=Priority.BACKGROUND,
            json_schema=schema,
        )
        wait_s = FIRST_PAUSE_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._read_answer(request)
            except PromptTooLongError:
                raise
            except ModelError:
                if attempt == ATTEMPTS:
                    raise
                await self._pause(wait_s)
                wait_s = min(2 * wait_s, LONGEST_PAUSE_S)
        raise AssertionError("the loop returns or raises")

    async def _read_answer(self, request: GenerationRequest) -> str:
        async with aclosing(self._model.generate(request)) as answer:
            return "".join([piece.text async for piece in answer if isinstance(piece, GenerationPiece)])


def _is_valid_call(text: str) -> bool:
    try:
        return is_valid(json.loads(text))
    except (ValueError, RecursionError):
        return False
