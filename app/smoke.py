"""One message through the real window, for a check of an installation: sends, waits for reply and memory."""

import asyncio
import time
from typing import TYPE_CHECKING, TypedDict

from app.windows.main_window import MainWindow
from core.errors import CoreError
from core.model import LineState, Message, MessageStatus, Role

if TYPE_CHECKING:
    from app.desk import Desk

LIMIT_S = 120.0
POLL_S = 0.1
_RUNNING = (MessageStatus.WAITING, MessageStatus.STREAMING)


class SmokeResult(TypedDict):
    """What the check prints as JSON."""

    window_ms: int
    reply: str
    memory: str


class SmokeError(Exception):
    """The check failed; the text says at what."""


async def run_smoke(desk: "Desk", window: MainWindow, text: str, *, window_ms: int) -> SmokeResult:
    """Type and send `text`, wait for the model's reply and for a line of Working Memory.

    Raises `SmokeError` with a sentence when either does not come within 120 s.
    """
    deadline = time.monotonic() + LIMIT_S
    window.chat.composer.set_text(text)
    window.chat.composer.entry.submitted.emit()
    reply = await _wait_for_reply(desk, deadline)
    memory = await _wait_for_memory(desk, deadline)
    return SmokeResult(window_ms=window_ms, reply=reply, memory=memory)


async def _wait_for_reply(desk: "Desk", deadline: float) -> str:
    while time.monotonic() < deadline:
        session = desk.list.selected
        messages = await desk.engine.load_messages(session, limit_turns=1) if session else ()
        replies: list[Message] = [m for m in messages if m.role is Role.ASSISTANT]
        if replies and replies[-1].status not in _RUNNING:
            if replies[-1].status is not MessageStatus.COMPLETE or not replies[-1].text.strip():
                raise SmokeError(f"The reply did not come: {replies[-1].error or replies[-1].status.value}.")
            return replies[-1].text
        await asyncio.sleep(POLL_S)
    raise SmokeError(f"No reply within {LIMIT_S:.0f} s. The model: {desk.engine.model_status.detail or '?'}")


async def _wait_for_memory(desk: "Desk", deadline: float) -> str:
    while time.monotonic() < deadline:
        try:
            session = desk.list.selected
            memory = await desk.engine.memory.load(session) if session else None
        except CoreError as error:
            raise SmokeError(f"The memory cannot be read: {error}") from error
        for section in memory.sections if memory else ():
            for line in section.lines:
                if line.state is not LineState.REMOVED:
                    return line.text
        await asyncio.sleep(POLL_S)
    raise SmokeError(f"The reply came, but no line of memory within {LIMIT_S:.0f} s.")
