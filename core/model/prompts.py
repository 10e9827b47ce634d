"""What a search finds, what is recalled for a message, and what was sent to the model."""

from dataclasses import dataclass
from enum import StrEnum

from core.model.ids import MessageId, Role, SessionId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A message that a search found."""

    session_id: SessionId
    title: str  # of its conversation
    turn: TurnId
    role: Role
    at: float  # s
    text: str  # as it is indexed: redacted
    score: float  # 0..1, best first
    words: bool  # found by its words
    meaning: bool  # found by its meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledItem:
    """Something of an earlier conversation, or a preference, that was considered for a message."""

    kind: str  # turn, recap, preference
    ref: str  # the turn's number, the segment's or the preference's id
    session_id: SessionId
    title: str  # of its conversation
    at: float  # s: when it was said
    text: str
    score: float
    cosine: float | None = None  # of a recap, around the model's mean
    used: bool = True  # False: there was no room


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What was put before a message from earlier conversations; `block` is "" when nothing was near enough."""

    session_id: SessionId
    turn: TurnId
    at: float  # s
    block: str
    items: tuple[RecalledItem, ...]


class PartKind(StrEnum):
    """The parts of a prompt, in the order in which the model reads them. The values are stored."""

    SYSTEM = "system"  # what the program says
    INSTRUCTIONS = "instructions"  # what the user says for this conversation
    PREFERENCES = "preferences"  # pinned and asked for
    PROFILE = "profile"
    FILE = "file"  # MEMORY.md
    DOCUMENT = "document"  # Working Memory
    RECAP = "recap"  # of messages that were left out
    ARCHIVED = "archived"  # messages whose archive no version of Working Memory holds yet
    HISTORY = "history"
    RECALLED = "recalled"  # of other conversations, and preferences that fit a message
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """One part of a prompt: its text or messages, its cost, and what of it was left out."""

    kind: PartKind
    text: str = ""
    messages: tuple[tuple[MessageId, int | None], ...] = ()  # each with the tokens it was cut to, None: whole
    tokens: int = 0  # estimate
    share_tokens: int = 0  # what it might have taken
    left_out: int = 0  # lines, items or messages
    why: str = ""  # in words, with what was left out


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """What was sent for one reply. Counts of the model are None until the reply has ended."""

    session_id: SessionId
    turn: TurnId
    at: float  # s
    model: str
    context_tokens: int
    reserve_tokens: int  # kept free for the answer
    parts: tuple[PromptPart, ...]
    recalled: tuple[RecalledItem, ...] = ()  # what was considered for this message
    prompt_tokens: int | None = None  # by the model's own count
    reused_tokens: int | None = None
    older: TurnId | None = None  # the records before and after this one
    newer: TurnId | None = None
    place: int = 1  # among the records that are kept, from 1
    count: int = 1
