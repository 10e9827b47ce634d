"""Replies in progress: from a durable question to a stored answer.

One task a conversation. The first piece is published at once, those after it are joined to at
most 20 notices a second, and what has arrived is saved every half second, so that a crash keeps
all but the last words. However a reply ends (finished, stopped, failed, program closed), its turn
is handed to the hook.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from core.changes import Changes, ReplyPiece
from core.errors import CoreError
from core.llm.port import GenerationEnd, GenerationPiece
from core.model import Message, MessageId, MessageStatus, SessionId
from core.sessions.context import Prompt
from core.storage import prompts, turns
from core.storage.database import Connection, Database
from core.text.tokens import estimate_tokens

log = logging.getLogger(__name__)

PUBLISH_EVERY_S = 0.1  # ten times a second: twenty cost the model a twentieth of its speed on two cores
SAVE_EVERY_S = 0.5  # desktop.md 3.1: replies are saved in batches, at least twice a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A running generation: its pieces, what was sent for it, and what the user should know about that."""

    pieces: AsyncGenerator[GenerationPiece | GenerationEnd, None]
    model: str
    note: str = ""
    prompt: Prompt | None = None


Ask = Callable[[SessionId], Awaitable[Answer]]


@dataclass(slots=True)
class _Running:
    """The state of one reply while its task runs."""

    reply: Message
    text: str = ""
    unpublished: str = ""
    notice: asyncio.Handle | None = None  # the next one; None while nothing was published lately
    saved_at: float = 0.0
    answer: Answer | None = None
    end: GenerationEnd | None = None
    task: asyncio.Task[None] | None = None
    stream: asyncio.Task[None] | None = None
    closing: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Replies:
    """Owns the tasks of all replies in progress."""

    def __init__(
        self,
        database: Database,
        *,
        ask: Ask,
        publish: Callable[[Changes], None],
        clock: Callable[[], float],
        finished: Callable[[], None],
    ) -> None:
        self._database = database
        self._ask = ask
        self._publish = publish
        self._clock = clock
        self._finished = finished  # wakes the hook
        self._running: dict[SessionId, _Running] = {}

    def start(self, reply: Message) -> None:
        """Begin to write the reply whose place is stored."""
        running = _Running(reply=reply)
        self._running[reply.session_id] = running
        # two tasks: one that is cancelled before its first step would never store how the reply ended
        running.stream = asyncio.get_running_loop().create_task(self._stream(running))
        running.task = asyncio.get_running_loop().create_task(self._write(running, running.stream))

    async def stop(self, session_id: SessionId) -> None:
        """End a conversation's reply now; returns when what had arrived is stored."""
        running = self._running.get(session_id)
        if running is not None and running.stream is not None:
            running.stream.cancel()
            await running.done.wait()

    async def aclose(self) -> None:
        """End all replies; each is kept as far as it had come and marked as cut off."""
        for running in self._running.values():
            running.closing = True
        for session_id in list(self._running):
            await self.stop(session_id)

    async def _write(self, running: _Running, stream: asyncio.Task[None]) -> None:
        status, error = MessageStatus.COMPLETE, None
        try:
            await stream
        except asyncio.CancelledError:
            # not passed on: this task has no caller, and its end is what `stop` waits for
            status = MessageStatus.INTERRUPTED if running.closing else MessageStatus.STOPPED
        except CoreError as failure:
            status, error = MessageStatus.FAILED, str(failure)
        except Exception:  # the task's end: everything else is a bug
            log.exception("a reply failed")
            status, error = MessageStatus.FAILED, "Something went wrong; the log has the details. Your text is kept."
        try:
            await self._store(running, status, error)
        except CoreError:
            log.exception("a reply could not be stored")
        finally:
            self._running.pop(running.reply.session_id, None)
            running.done.set()
            self._publish(
                Changes(messages=frozenset({running.reply.session_id}), conversations=True, model=True, status=True)
            )
            self._finished()

    async def _stream(self, running: _Running) -> None:
        running.answer = await self._ask(running.reply.session_id)
        running.saved_at = self._clock()
        async with aclosing(running.answer.pieces) as pieces:
            async for piece in pieces:
                if isinstance(piece, GenerationEnd):
                    running.end = piece
                    continue
                running.text += piece.text
                running.unpublished += piece.text
                if running.notice is None:
                    running.notice = asyncio.get_running_loop().call_soon(self._publish_piece, running)
                if self._clock() - running.saved_at >= SAVE_EVERY_S:
                    running.saved_at = self._clock()
                    await self._save(running.reply.id, running.text)

    async def _save(self, reply: MessageId, text: str) -> None:
        await self._database.write(lambda c: turns.grow_reply(c, reply, text))

    def _publish_piece(self, running: _Running) -> None:
        if running.notice is not None:
            running.notice.cancel()
            running.notice = None
        text, running.unpublished = running.unpublished, ""
        if text:
            running.notice = asyncio.get_running_loop().call_later(PUBLISH_EVERY_S, self._publish_piece, running)
            piece = ReplyPiece(session_id=running.reply.session_id, message_id=running.reply.id, text=text)
            self._publish(Changes(reply=piece))

    async def _store(self, running: _Running, status: MessageStatus, error: str | None) -> None:
        self._publish_piece(running)
        if running.notice is not None:
            running.notice.cancel()
        answer, end = running.answer, running.end
        note = answer.note if answer else ""
        if end is not None and end.finish_reason == "length":
            note = " ".join(filter(None, (note, "The reply ended at its length limit.")))

        def finish(c: Connection) -> None:
            turns.finish_reply(
                c,
                running.reply.id,
                running.text.strip(),
                status=status,
                at=self._clock(),
                tokens=estimate_tokens(running.text),
                model=answer.model if answer else None,
                tokens_per_s=end.new_tokens / end.generation_s if end and end.generation_s > 0 else None,
                error=error,
                note=note,
            )
            if end is not None:
                prompts.set_cost(
                    c,
                    running.reply.session_id,
                    running.reply.turn,
                    prompt_tokens=end.prompt_tokens,
                    reused_tokens=end.reused_tokens,
                )

        await self._database.write(finish)
