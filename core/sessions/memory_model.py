"""The model that is asked about memory: the chat's, unless the user chose another one, which then loads when needed."""

from collections.abc import AsyncGenerator, Callable, Sequence

from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
)
from core.model import ModelStatus, SessionId
from core.sessions.chat_model import ChatModelSlot


class MemoryModel:
    """A `ChatModel` that passes requests on to the model of the role."""

    def __init__(self, chat: ChatModelSlot, make_own: Callable[[], ChatModelSlot], *, has_own: bool) -> None:
        self._chat, self._make_own = chat, make_own
        self._own = make_own() if has_own else None

    @property
    def status(self) -> ModelStatus:
        """What the model is doing."""
        return self._now.status

    @property
    def is_chats(self) -> bool:
        """Whether it is the chat's model."""
        return self._own is None

    @property
    def _now(self) -> ChatModelSlot:
        return self._own or self._chat

    def start(self) -> None:
        """Begin to load a model of its own; the chat's is started by whoever owns it."""
        if self._own is not None:
            self._own.start()

    async def use(self, *, has_own: bool) -> None:
        """Change the model: what is chosen now, or the chat's again."""
        old, self._own = self._own, self._make_own() if has_own else None
        if old is not None:
            await old.aclose()
        if self._chat.was_started:
            self.start()

    async def forget(self, conversation: SessionId) -> None:
        """Drop what a model of its own has read of a conversation."""
        if self._own is not None:
            await self._own.forget(conversation)

    async def aclose(self) -> None:
        """Close a model of its own."""
        if self._own is not None:
            await self._own.aclose()

    def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        """See `ChatModel`."""
        return self._now.generate(request)

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        """See `ChatModel`."""
        return await self._now.choose(request)

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        """See `ChatModel`."""
        return await self._now.count_tokens(messages)
