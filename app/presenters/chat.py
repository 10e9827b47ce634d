"""One open conversation: its messages, the running reply, the draft. Runs on the GUI loop, free of Qt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from app.presenters.tasks import Refresher, Report, Tasks
from app.rendering.words import boundary, waiting
from core.changes import Changes, ReplyPiece
from core.errors import CoreError
from core.model import (
    Conversation,
    Message,
    MessageId,
    MessageStatus,
    ModelStatus,
    Role,
    Segment,
    SessionId,
    TurnId,
)

PAGE_TURNS = 40
JUMP_PAGE_TURNS = 200
DRAFT_PAUSE_S = 0.5
RUNNING = (MessageStatus.WAITING, MessageStatus.STREAMING)


class ChatView(Protocol):
    """What the chat must be able to show."""

    def set_conversation(self, conversation: Conversation | None, /) -> None: ...
    def show_messages(self, messages: Sequence[Message], has_earlier: bool, /) -> None: ...
    def append_piece(self, message_id: MessageId, text: str, /) -> None: ...
    def set_separators(self, separators: Mapping[TurnId, str], /) -> None: ...
    def set_busy(self, busy: bool, /) -> None: ...
    def set_waiting(self, text: str, /) -> None: ...
    def set_draft(self, text: str, /) -> None: ...
    def clear_sent(self, text: str, /) -> None: ...
    def show_send_error(self, text: str, /) -> None: ...
    def jump_to(self, turn: TurnId, /) -> None: ...


class SegmentsReader(Protocol):
    """Where one segment ends and the next begins."""

    async def load(self, session_id: SessionId) -> tuple[Segment, ...]: ...


class ChatEngine(Protocol):
    """The slice of the engine that the chat needs."""

    @property
    def model_status(self) -> ModelStatus: ...
    async def load_messages(
        self, session_id: SessionId, *, before: TurnId | None = None, limit_turns: int = 40
    ) -> tuple[Message, ...]: ...
    @property
    def segments(self) -> SegmentsReader: ...
    async def send(self, session_id: SessionId, text: str) -> tuple[Message, Message]: ...
    async def stop_reply(self, session_id: SessionId) -> None: ...
    async def set_remember(self, session_id: SessionId, remember: bool) -> None: ...
    async def load_draft(self, session_id: SessionId) -> str: ...
    async def save_draft(self, session_id: SessionId, text: str) -> None: ...


class ChatPresenter:
    """Shows one conversation at a time; `create` makes one when the user writes before there is any."""

    def __init__(
        self,
        engine: ChatEngine,
        view: ChatView,
        *,
        report: Report,
        create: Callable[[], Awaitable[SessionId]],
    ) -> None:
        self._engine = engine
        self._view = view
        self._create = create
        self._tasks = Tasks(report)
        self._messages_refresher = Refresher(self._tasks, self._reload_messages)
        self._segments_refresher = Refresher(self._tasks, self._reload_segments)
        self._session: SessionId | None = None
        self._messages: tuple[Message, ...] = ()
        self._live: dict[MessageId, str] = {}  # text of running replies, of all conversations
        self._has_earlier = False
        self._loading_earlier = False
        self._sending = False
        self._creating = False  # the conversation that opens is the one being written to
        self._draft: tuple[SessionId, str] | None = None  # not yet saved
        self._draft_timer: asyncio.TimerHandle | None = None

    async def aclose(self) -> None:
        """Save the draft, end what runs; the view is not touched afterwards."""
        if self._draft_timer is not None:
            self._draft_timer.cancel()
        try:
            await asyncio.wait_for(self._flush_draft(), 1.0)
        except (CoreError, TimeoutError):
            pass  # what could not be saved now was saved up to half a second ago
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Open a conversation, or refresh what is known about the open one."""
        self._view.set_conversation(conversation)
        session = conversation.id if conversation else None
        if session == self._session:
            return
        if self._draft is not None:
            self._tasks.start(self._flush_draft())
        self._session = session
        self._messages, self._has_earlier = (), False
        if session is None:
            self._view.show_messages((), False)
            self._view.set_separators({})
            self._view.set_busy(False)
        elif not self._creating:
            self._tasks.start(self._open(session))

    def on_changes(self, changes: Changes) -> None:
        """Take what concerns the open conversation."""
        session = self._session
        if changes.reply is not None:
            self._take_piece(changes.reply)
        if session is not None and (session in changes.messages or changes.everything):
            self._messages_refresher.request()
        if session is not None and (session in changes.segments or changes.everything):
            self._segments_refresher.request()
        if changes.model or changes.everything:
            self._view.set_waiting(waiting(self._engine.model_status))

    def send(self, text: str) -> None:
        """Send a message; ignored while one is on its way or a reply is running."""
        if not self._sending and text.strip() and not self._is_busy():
            self._sending = True
            self._view.show_send_error("")
            self._tasks.start(self._send(text), self._view.show_send_error)

    def start_temporary(self) -> None:
        """Nothing is to be remembered, and there is no conversation yet: make one that is temporary."""
        if self._session is None and not self._creating:
            self._tasks.start(self._start_temporary())

    def stop(self) -> None:
        """Ask the running reply to end; what has arrived stays."""
        if self._session is not None and self._is_busy():
            self._tasks.start(self._engine.stop_reply(self._session))

    def load_earlier(self) -> None:
        """Load the page before the first one shown."""
        if self._has_earlier and not self._loading_earlier and self._session is not None:
            self._loading_earlier = True
            self._tasks.start(self._load_earlier(self._session, PAGE_TURNS))

    def jump_to(self, turn: TurnId) -> None:
        """Bring a turn on screen, loading back to it if need be."""
        if self._session is not None:
            self._tasks.start(self._jump(self._session, turn))

    def set_draft(self, text: str) -> None:
        """Keep an unsent text; saved when the user pauses."""
        if self._session is None:
            return
        self._draft = (self._session, text)
        if self._draft_timer is not None:
            self._draft_timer.cancel()
        loop = asyncio.get_running_loop()
        self._draft_timer = loop.call_later(DRAFT_PAUSE_S, self._save_draft)

    def last_reply(self) -> str:
        """The text of the newest reply, for copying."""
        replies = [m for m in self._messages if m.role is Role.ASSISTANT]
        return (self._live.get(replies[-1].id) or replies[-1].text) if replies else ""

    async def _open(self, session: SessionId) -> None:
        draft = await self._engine.load_draft(session)
        messages = await self._engine.load_messages(session, limit_turns=PAGE_TURNS)
        if session != self._session:
            return
        self._has_earlier = _turn_count(messages) >= PAGE_TURNS
        self._view.set_waiting(waiting(self._engine.model_status))
        self._set_messages(messages)
        self._view.set_draft(draft)
        await self._reload_segments()

    async def _reload_messages(self) -> None:
        if (session := self._session) is None:
            return
        newest = await self._engine.load_messages(session, limit_turns=PAGE_TURNS)
        if session != self._session:
            return
        if not self._messages:
            self._has_earlier = _turn_count(newest) >= PAGE_TURNS
        first = newest[0].turn if newest else None
        older = tuple(m for m in self._messages if first is not None and m.turn < first)
        self._set_messages(older + newest)

    async def _reload_segments(self) -> None:
        if (session := self._session) is None:
            return
        segments = await self._engine.segments.load(session)
        if session == self._session:
            words = {s.first_turn: boundary(s) for s in segments if s.opened_by is not None}
            self._view.set_separators({turn: f"new segment: {why}" for turn, why in words.items()})

    async def _load_earlier(self, session: SessionId, limit_turns: int) -> None:
        try:
            first = self._messages[0].turn if self._messages else None
            page = await self._engine.load_messages(session, before=first, limit_turns=limit_turns)
            if session == self._session:
                self._has_earlier = _turn_count(page) >= limit_turns
                self._set_messages(page + self._messages)
        finally:
            self._loading_earlier = False

    async def _jump(self, session: SessionId, turn: TurnId) -> None:
        while self._has_earlier and self._messages and turn < self._messages[0].turn:
            await self._load_earlier(session, JUMP_PAGE_TURNS)
            if session != self._session:
                return
        self._view.jump_to(turn)

    async def _send(self, text: str) -> None:
        try:
            session = self._session
            if session is None:
                session = await self._create_session()
            user, reply = await self._engine.send(session, text)
            if self._draft is not None and self._draft[0] == session:
                self._draft = None
            self._view.clear_sent(text)
            if session == self._session:
                known = {m.id for m in self._messages}
                self._set_messages(self._messages + tuple(m for m in (user, reply) if m.id not in known))
        finally:
            self._sending = False
        await self._engine.save_draft(session, "")

    async def _start_temporary(self) -> None:
        await self._engine.set_remember(await self._create_session(), False)

    async def _create_session(self) -> SessionId:
        self._creating = True
        try:
            return await self._create()
        finally:
            self._creating = False

    def _take_piece(self, piece: ReplyPiece) -> None:
        """Collect the replies of all conversations: the store lags behind by up to half a second."""
        self._live[piece.message_id] = self._live.get(piece.message_id, "") + piece.text
        if any(m.id == piece.message_id for m in self._messages[-2:]):
            self._view.append_piece(piece.message_id, piece.text)

    def _set_messages(self, messages: tuple[Message, ...]) -> None:
        self._messages = tuple(self._with_live_text(m) for m in messages)
        self._view.show_messages(self._messages, self._has_earlier)
        self._view.set_busy(self._is_busy())

    def _with_live_text(self, message: Message) -> Message:
        """A running reply as far as it has come, never less than was shown."""
        if message.status not in RUNNING:
            self._live.pop(message.id, None)
            return message
        live = self._live.get(message.id, "")
        if not live.startswith(message.text):
            self._live[message.id] = live = message.text
        return replace(message, text=live)

    def _is_busy(self) -> bool:
        return any(m.status in RUNNING for m in self._messages[-2:])

    def _save_draft(self) -> None:
        self._draft_timer = None
        self._tasks.start(self._flush_draft())

    async def _flush_draft(self) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            await self._engine.save_draft(*draft)


def _turn_count(messages: Sequence[Message]) -> int:
    return len({m.turn for m in messages})
