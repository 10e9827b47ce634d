"""Scripted chat models and material for tests of updates. The replies are written here, no model is asked."""

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
from core.model import ModelPhase, ModelStatus, Section, TurnId
from core.working_memory.document import EMPTY, render_document
from core.working_memory.heuristics import Proposal
from core.working_memory.material import Material, QuotedMessage

END = GenerationEnd(
    finish_reason="stop",
    prompt_tokens=10,
    reused_tokens=0,
    new_tokens=5,
    prompt_s=0.1,
    generation_s=0.1,
    context_used_tokens=15,
)


class ScriptedModel:
    """Gives the next of its replies to each request; a `ModelError` among them is raised."""

    status = ModelStatus(name="scripted", phase=ModelPhase.READY)

    def __init__(
        self,
        replies: Sequence[object] = (),
        *,
        choose: Callable[[str], float] | None = None,
        tokens: int = 1,
    ) -> None:
        self.replies = list(replies)
        self.requests: list[GenerationRequest] = []
        self.questions: list[ChoiceRequest] = []
        self._choose = choose or (lambda _: 0.5)
        self._tokens = tokens

    async def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else ModelError("The scripted replies are used up.")
        if isinstance(reply, ModelError):
            raise reply
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        yield GenerationPiece(text)
        yield END

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        self.questions.append(request)
        first = self._choose(request.messages[-1].text)
        rest = (1 - first) / (len(request.choices) - 1)
        probabilities = (first, *(rest for _ in request.choices[1:]))
        return ChoiceScores(probabilities=probabilities, prompt_tokens=9, reused_tokens=8, prompt_s=0.0)

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        return self._tokens


async def no_pause(seconds: float) -> None:
    """Wait for nobody."""


def call(**sections: object) -> dict[str, object]:
    """A whole tool call; sections are named as in the enumeration, the others are kept."""
    given = {Section[name]: value for name, value in sections.items()}
    return {"sections": {section.value: given.get(section, {"op": "KEEP"}) for section in Section}}


def document(**bodies: str) -> str:
    """A stored document."""
    return render_document(EMPTY.with_bodies({Section[name]: body for name, body in bodies.items()}))


def make_material(*users: str, stored: str = "", proposals: tuple[Proposal, ...] = (), **rest: object) -> Material:
    """Material of some turns of the user's, with a short reply each."""
    messages: list[QuotedMessage] = []
    for n, text in enumerate(users, start=1):
        messages.append(QuotedMessage(id=2 * n - 1, turn=TurnId(n), role="user", text=text))
        messages.append(QuotedMessage(id=2 * n, turn=TurnId(n), role="assistant", text="Noted."))
    return Material(
        document=stored,
        messages=tuple(messages),
        proposals=proposals,
        user_texts=users,
        **rest,
    )
