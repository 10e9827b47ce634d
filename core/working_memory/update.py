"""The update of Working Memory: what is asked of a model, and what is proposed when it fails.

The chain of working-memory rule 15: a whole call, a section at a time, select, creation (a first document
only), heuristics. Every path ends in operations for the merge, whose guards decide. What the heuristics
noticed is always among them: a model that forgets costs polish, never information.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Literal

from core.errors import ModelError
from core.llm.port import ChatModel
from core.model import Section
from core.redaction import redact
from core.text.keys import KeyIndex
from core.working_memory.bodies import add_items, item_texts
from core.working_memory.creation import read_created
from core.working_memory.document import is_working_memory, parse_document
from core.working_memory.heuristics import Known, Proposal, to_operations
from core.working_memory.line_checks import Sources, static_lines
from core.working_memory.material import (
    DroppedLine,
    Failure,
    Material,
    ModelLine,
    QuotedMessage,
    Update,
    UpdateMode,
)
from core.working_memory.operations import Append, Keep, Operation, read_operation
from core.working_memory.operations import Update as Rewrite
from core.working_memory.prompts import load_parts
from core.working_memory.selecting import KINDS, Rank, Selection, Selector
from core.working_memory.thinking import think_in
from core.working_memory.update_prompt import NAME
from core.working_memory.vetting import Vetted, to_json, vet
from core.working_memory.writing import Pause, Writer, Written

__all__ = ["Material", "Mode", "QuotedMessage", "Update", "Updater", "propose_without_model"]

Mode = Literal["write", "select", "off"]

SELECT_LIMIT_S = 45.0  # of the questions of one update
MAX_QUESTIONS = 48
_SINGLE = frozenset({Section.TITLE, Section.STATE})


class Updater:
    """Proposes updates, with a model as far as its mode allows; `mode` is what its exam found it fit for."""

    def __init__(
        self,
        model: ChatModel | None,
        mode: Mode,
        *,
        useful: Sequence[str] | None = None,
        rank: Rank | None = None,
        pool: Executor | None = None,
        pause: Pause = asyncio.sleep,
        limit_s: float = SELECT_LIMIT_S,
        max_questions: int = MAX_QUESTIONS,
        conversation: str = "memory",
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        """`useful` names the questions that may be asked, as "en:keep" (None: all); `rank` scores sentences by how
        much they are worth keeping; `pool` runs what takes thought.
        """
        self._model = model
        self._mode: Mode = mode if model is not None else "off"
        self._useful = useful
        self._rank = rank
        self._think = think_in(pool)
        self._pause = pause
        self._limit_s = limit_s
        self._max_questions = max_questions
        self._conversation = conversation
        self._on_progress = on_progress

    @property
    def mode(self) -> Mode:
        """What the model is used for."""
        return self._mode

    async def propose(self, material: Material) -> Update:
        """Return what becomes of the seven sections. A model's failures are told in it, never raised."""
        model = self._model
        kinds = self._find_kinds(material.language)
        if model is None or self._mode == "off" or not material.messages or (self._mode == "select" and not kinds):
            return propose_without_model(material)
        prompt_lines = static_lines(load_parts(NAME, material.language))
        sources = await self._think(lambda: Sources(material, prompt_lines=prompt_lines))
        written = Written()
        if self._mode == "write":
            writer = Writer(
                model,
                material,
                sources,
                conversation=self._conversation,
                think=self._think,
                pause=self._pause,
            )
            written, note = await self._write(writer, material, sources)
            if len(written.answers) == len(Section):
                return await self._think(lambda: _compose(material, written, Selection(), "write", note))
        else:
            note = ""
        self._say("select")
        selection = await self._select(model, material, sources, kinds)
        mode: UpdateMode = "write" if written.answers else "select" if selection.asked else "heuristics"
        return await self._think(lambda: _compose(material, written, selection, mode, note))

    async def _write(self, writer: Writer, material: Material, sources: Sources) -> tuple[Written, str]:
        """Write, and where that gave nothing at all and there is no document yet, let the model make one."""
        self._say("write")
        try:
            await writer.prepare()
            written = await writer.write()
        except ModelError as error:
            written = Written(failures=[Failure(part="whole update", reason=str(error))])
        note = writer.prompt.note
        lines = any(answer.lines for answer in written.answers.values())
        if not lines and written.calls and _is_first(material.document):
            text = await writer.write_document()
            for section, answer in (await self._think(lambda: _vet_created(text, sources))).items():
                written.take(section, answer)
        return written, note

    def _find_kinds(self, language: str) -> frozenset[str]:
        """The kinds of questions that help in a language."""
        if self._useful is None:
            return frozenset(KINDS)
        return frozenset(kind for kind in KINDS if f"{language.split('-')[0]}:{kind}" in self._useful)

    async def _select(self, model: ChatModel, material: Material, sources: Sources, kinds: frozenset[str]) -> Selection:
        selector = Selector(
            model,
            material,
            sources,
            rank=self._rank,
            conversation=self._conversation,
            max_questions=self._max_questions,
            kinds=kinds,
        )
        selection = Selection()
        try:
            await self._think(selector.prepare)
            async with asyncio.timeout(self._limit_s):
                await selector.select(selection)
        except TimeoutError:
            selection.failures.append(Failure(part="select", reason="The time for questions was over."))
        except ModelError as error:
            selection.failures.append(Failure(part="select", reason=str(error)))
        await self._think(lambda: selector.keep_best(selection))
        return selection

    def _say(self, step: str) -> None:
        if self._on_progress is not None:
            self._on_progress(step)


def _vet_created(text: str, sources: Sources) -> dict[Section, Vetted]:
    return {section: vet(section, operation, sources) for section, operation in read_created(text).items()}


def propose_without_model(material: Material, failures: Sequence[Failure] = ()) -> Update:
    """Return the heuristics' lines as operations. It cannot fail."""
    return Update(
        operations=to_operations(material.proposals, _known(material)),
        mode="heuristics",
        failures=tuple(failures),
        proposals=material.proposals,
    )


def _known(material: Material) -> Known:
    document = parse_document(redact(material.document))
    items = {section: item_texts(body) for section, body in document.bodies.items()}
    return Known(items=items, language=material.language)


def _is_first(text: str) -> bool:
    """Whether there is no document yet, or only legacy text that never was one."""
    return not is_working_memory(text) or not any(parse_document(text).bodies.values())


def _compose(material: Material, written: Written, selection: Selection, mode: UpdateMode, note: str) -> Update:
    """Join what the model wrote and chose with what the heuristics noticed, section by section."""
    code: tuple[Proposal, ...] = (*material.proposals, *selection.proposals)
    by_code = to_operations(code, _known(material))
    operations: dict[str, object] = {}
    model_lines: list[ModelLine] = list(selection.lines)
    dropped: list[DroppedLine] = []
    for section in Section:
        answer = written.answers.get(section, Vetted())
        ours = read_operation(by_code[section.value], section).operation
        operations[section.value] = to_json(_join(section, answer.operation, ours))
        model_lines += answer.lines
        dropped += answer.dropped
    notes = [note] if note else []
    unwritten = [section.value for section in Section if section not in written.answers]
    if written.answers and unwritten:
        notes.append(f"The model wrote nothing for {', '.join(unwritten)}; the program did.")
    return Update(
        operations=operations,
        mode=mode,
        notes=tuple(notes),
        model_lines=tuple(model_lines),
        dropped=tuple(dropped),
        failures=(*written.failures, *selection.failures),
        proposals=code,
    )


def _join(section: Section, written: Operation, noticed: Operation) -> Operation:
    """One operation of two: the model's wording stands, and no line that code noticed is missing from it.

    A title or state has one author. Where code marks a line as settled (its whole list is an UPDATE), the
    model's new lines go below it; where the model rewrites the list, the lines that it does not hold do.
    """
    if isinstance(written, Keep):
        return noticed
    if isinstance(noticed, Keep) or section in _SINGLE:
        return written
    if isinstance(written, Append):
        if isinstance(noticed, Rewrite):
            return Rewrite(_below(noticed.content, written.items))
        held = KeyIndex(noticed.items)
        return Append((*noticed.items, *(item for item in written.items if not held.holds(item))))
    lines = noticed.items if isinstance(noticed, Append) else item_texts(noticed.content)
    return Rewrite(_below(written.content, lines))


def _below(content: str, lines: Sequence[str]) -> str:
    held = KeyIndex(item_texts(content))
    fresh = [line for line in lines if not held.holds(line)]
    return add_items(content, fresh)
