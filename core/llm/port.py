"""What the rest of the program may ask of a chat model: requests, answers, errors, one Protocol.

Relies on nothing heavy: the model's library lives in another process (`core.llm.worker`).
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol

from core.errors import ModelError
from core.model import ModelStatus

FinishReason = Literal["stop", "length", "cancelled"]


class Priority(IntEnum):
    """Who waits for whom: a chat's request interrupts background work, which goes on afterwards where it was."""

    CHAT = 0
    BACKGROUND = 10


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt; `role` is system, user or assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """A prompt and how to answer it. A temperature of 0 picks the likeliest token each time."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int = 1024
    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.1  # over the last 64 tokens written; 1 is none
    seed: int | None = None  # None: another answer each time
    conversation: str = ""  # whose prefix this is
    priority: Priority = Priority.CHAT
    json_schema: str = ""  # JSON text: the answer is held to it by a grammar; "" leaves it free
    grammar: str = ""  # GBNF with a rule `root`: the same for what is no JSON
    show_thinking: bool = False  # whether pieces of the model's thought are yielded too, marked as such


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRequest:
    """A question whose answer is one of a few short texts.

    The prompt is `messages` with the assistant's turn opened; requests that share their first messages
    and `conversation` share that prefix's work.
    """

    messages: tuple[ChatMessage, ...]
    choices: tuple[str, ...]  # two or more, each at least one token
    conversation: str = ""
    priority: Priority = Priority.BACKGROUND


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceScores:
    """The probability of each choice as the whole answer, in their order; they add up to 1."""

    probabilities: tuple[float, ...]
    prompt_tokens: int
    reused_tokens: int
    prompt_s: float


@dataclass(frozen=True, slots=True)
class GenerationPiece:
    """More text of an answer: whole characters, seldom more than a word."""

    text: str
    thought: bool = False  # thinking aloud before the answer; only if asked for, and never part of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEnd:
    """How an answer ended and what it cost."""

    finish_reason: FinishReason
    prompt_tokens: int
    reused_tokens: int  # of the prompt, still known from the request before
    new_tokens: int
    prompt_s: float
    generation_s: float
    context_used_tokens: int


class ModelProcessError(ModelError):
    """The model process died or could not start; `details` holds its last lines, for the log."""

    def __init__(self, text: str, *, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class PromptTooLongError(ModelError):
    """The prompt leaves no room for an answer. Nothing was cut off and nothing was generated."""

    def __init__(self, *, prompt_tokens: int, limit_tokens: int) -> None:
        super().__init__(
            f"This is too long for the model: {prompt_tokens:,} tokens where it can read {limit_tokens:,}. "
            "Nothing was cut off and your text is kept. Send it in shorter parts, or give the model a larger context."
        )
        self.prompt_tokens = prompt_tokens
        self.limit_tokens = limit_tokens


class GrammarError(ModelError):
    """The form an answer should have cannot be compiled: a mistake in the program or in a tool's schema."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The answer's form (a grammar) cannot be used: {reason}. Nothing was generated.")
        self.reason = reason


class ChatModel(Protocol):
    """A model that answers."""

    @property
    def status(self) -> ModelStatus: ...

    def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        """Yield pieces, then one end. Closing or cancelling the generator stops the model in every phase.

        Raises `ModelError` when the model cannot load, dies, or the prompt is too long.
        """
        ...

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        """Return how likely each choice is as the answer, by the probabilities of its tokens.

        Raises `ModelError` as `generate` does.
        """
        ...

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        """Return the tokens of the prompt these messages make, the template's own included."""
        ...
