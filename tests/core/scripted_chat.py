"""A chat model whose answers a test writes down. No model is asked."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence

from core.errors import ModelError
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
)
from core.model import ModelPhase, ModelStatus
from core.text.tokens import estimate_tokens

END = GenerationEnd(
    finish_reason="stop",
    prompt_tokens=5,
    reused_tokens=0,
    new_tokens=3,
    prompt_s=0.1,
    generation_s=0.1,
    context_used_tokens=8,
)
NEVER = object()  # a reply that does not come
EVEN = 0.5


class ScriptedModel:
    """Gives the next of its replies to each request: a text, what is said as JSON, an error, or none ever.

    When they are used up it gives `rest`, without which a further request fails the test. `choose` takes a question
    and returns how likely the first choice is (or the one at `favourite`); the others share what is left.
    """

    def __init__(
        self,
        *replies: object,
        rest: ModelError | None = None,
        choose: Callable[[str], float] = lambda _: EVEN,
        favourite: int = 0,
        context_tokens: int = 2_048,
    ) -> None:
        self.replies = list(replies)
        self.asked: list[GenerationRequest | ChoiceRequest] = []
        self.status = ModelStatus(name="scripted", phase=ModelPhase.READY, context_size_tokens=context_tokens)
        self._rest = rest
        self._choose = choose
        self._favourite = favourite

    @property
    def requests(self) -> list[GenerationRequest]:
        return [request for request in self.asked if isinstance(request, GenerationRequest)]

    @property
    def questions(self) -> list[ChoiceRequest]:
        return [request for request in self.asked if isinstance(request, ChoiceRequest)]

    async def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        self.asked.append(request)
        reply = self._rest if self._rest and not self.replies else self.replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        if reply is NEVER:
            await asyncio.Event().wait()
        yield GenerationPiece(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False))
        yield END

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        self.asked.append(request)
        likely = self._choose(request.messages[-1].text)
        probabilities = [(1 - likely) / (len(request.choices) - 1)] * len(request.choices)
        probabilities[self._favourite] = likely
        return ChoiceScores(probabilities=tuple(probabilities), prompt_tokens=9, reused_tokens=8, prompt_s=0.0)

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        return sum(estimate_tokens(message.text) for message in messages)
