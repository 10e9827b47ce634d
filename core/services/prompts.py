"""What is sent with each reply: gathered before it, kept after it, shown in the Prompt tab.

Records are redacted before they are written, and hold no message's text: that is the transcript's. Keeping one never
delays an answer. Under pressure the open segment is summed up behind the answer, so that the next prompts hold a
recap of what they have no room for.
"""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.changes import Changes
from core.errors import CoreError
from core.jobs.notebook import MEMORY_FILE
from core.memory_files.folder import Folder
from core.memory_files.publish import read_base
from core.model import Message, MessageId, PartKind, PromptPart, SentPrompt, SessionId, TurnId
from core.redaction import redact
from core.services.asking import clean_instructions
from core.services.ground import Ground
from core.sessions.budget import share_context
from core.sessions.context import Prompt, Sources
from core.sessions.instruction import NO_NOTES, Notes
from core.sessions.situation import is_off, load_sources, may_know
from core.storage import prompts, recalls, turns
from core.storage.database import Connection

log = logging.getLogger(__name__)

SPEAKERS = {"user": "User", "assistant": "Assistant"}


class PromptsService:
    """Gathers what a prompt is made of and keeps what was sent."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._tasks: set[asyncio.Task[None]] = set()
        self._rolled: set[tuple[SessionId, int, MessageId | None]] = set()

    async def aclose(self) -> None:
        """End what runs; a record that was not kept yet is lost, nothing else."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # -- for the next reply --------------------------------------------------------------------

    async def gather(self, session_id: SessionId) -> Sources:
        """Return all that a conversation's next prompt is made of."""
        learning, now = self._ground.settings.learning, self._ground.clock()
        per_turn = self._ground.backroom().embedder.is_available and learning.explicit_preferences_enabled

        def read(c: Connection) -> tuple[Sources, bool]:
            sources = load_sources(c, session_id, learning=learning, now=now, per_turn=per_turn)
            return sources, not is_off(learning) and may_know(c, session_id)

        sources, may_read_notes = await self._ground.database.read(read)
        if not may_read_notes or not learning.memory_md_prompt_chars:
            return sources
        workspace, limit = self._ground.folder.workspace(), learning.memory_md_prompt_chars
        return replace(sources, notes=await self._ground.think(lambda: read_notes(workspace, limit)))

    async def keep(self, session_id: SessionId, prompt: Prompt, model: str) -> None:
        """Keep where the history begins, at once, and what was sent, behind the answer."""
        if prompt.start is not None or prompt.left_out:
            await self._ground.database.write(
                lambda c: prompts.put_start(c, session_id, prompt.start, version=prompt.version)
            )
        self._start(self._keep(session_id, prompt, model))
        key = (session_id, prompt.version, prompt.start)
        if prompt.pressed and self._ground.settings.learning.recap_enabled and key not in self._rolled:
            self._rolled.add(key)
            self._start(self._roll(session_id, prompt.version))

    async def _keep(self, session_id: SessionId, prompt: Prompt, model: str) -> None:
        if prompt.turn is None:
            return
        size = self._ground.settings.models.context_tokens
        parts = await self._ground.think(partial(_redact_parts, prompt.parts))
        sent = SentPrompt(
            session_id=session_id,
            turn=prompt.turn,
            at=self._ground.clock(),
            model=model,
            context_tokens=size,
            reserve_tokens=share_context(size).reserve,
            parts=parts,
        )
        await self._ground.database.write(lambda c: prompts.put(c, sent))
        self._ground.publish(Changes(prompts=frozenset({session_id})))

    async def _roll(self, session_id: SessionId, version: int) -> None:
        """Sum up the open segment; the host lets the answer go first."""
        recap = await self._ground.backroom().finishing.recaps.roll(session_id)
        if recap:
            text = redact(recap)
            await self._ground.database.write(lambda c: prompts.put_recap(c, session_id, text, version=version))

    # -- for the tab ---------------------------------------------------------------------------

    async def load(self, session_id: SessionId, turn: TurnId | None = None) -> SentPrompt | None:
        """Return what was sent for a turn's reply, or for the newest; messages with their text."""

        def read(c: Connection) -> SentPrompt | None:
            sent = prompts.get(c, session_id, turn)
            if sent is None:
                return None
            numbers = [number for part in sent.parts for number, _ in part.messages]
            messages = {message.id: message for message in turns.load_by_id(c, numbers)}
            recall = recalls.get(c, sent.turn)
            parts = tuple(replace(part, text=_write_part(part, messages)) for part in sent.parts)
            return replace(sent, parts=parts, recalled=recall.items if recall else ())

        return await self._ground.database.read(read)

    async def load_instructions(self, session_id: SessionId) -> str:
        """Return what the user tells the model for one conversation, "" for nothing."""
        return await self._ground.database.read(lambda c: prompts.load_instructions(c, session_id))

    async def set_instructions(self, session_id: SessionId, text: str) -> None:
        """Tell the model something at the top of every prompt of one conversation; blank text ends that."""
        kept = clean_instructions(text)
        await self._ground.database.write(lambda c: prompts.put_instructions(c, session_id, kept))
        self._ground.publish(Changes(prompts=frozenset({session_id})))

    # -- inside --------------------------------------------------------------------------------

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _guard(work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except CoreError as error:
            log.warning("what was sent is not kept: %s", error)
        except Exception:  # the task's end: everything else is a bug
            log.exception("a record of a prompt failed")


def read_notes(workspace: Path, limit_chars: int) -> Notes:
    """Return MEMORY.md for a prompt; a file that cannot be read is left out, and the reason kept."""
    try:
        with Folder.open(workspace) as folder:
            return Notes(text=read_base(folder, MEMORY_FILE).text, limit_chars=limit_chars)
    except FileNotFoundError:
        return NO_NOTES
    except CoreError as error:
        return Notes(problem=str(error))
    except OSError as error:
        return Notes(problem=f"{MEMORY_FILE} cannot be read ({error.strerror or error})")


def _redact_parts(parts: tuple[PromptPart, ...]) -> tuple[PromptPart, ...]:
    """What is written: secrets out, and the text of messages left to the transcript."""
    return tuple(replace(part, text="" if part.messages else redact(part.text), why=redact(part.why)) for part in parts)


def _write_part(part: PromptPart, messages: dict[MessageId, Message]) -> str:
    """Return a part's text; that of its messages from the transcript, each with its speaker."""
    if not part.messages:
        return part.text
    found = [messages[number] for number, _ in part.messages if number in messages]
    if part.kind is PartKind.QUESTION:
        return "\n\n".join(message.text for message in found)
    return "\n\n".join(f"{SPEAKERS[message.role]}: {message.text}" for message in found)
