"""Conversations, their messages, transcripts that are replayed, and how the engine is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.model.ids import MessageId, Role, SessionId, TurnId


class MessageStatus(StrEnum):
    """What became of a message. The values are stored: never rename one."""

    COMPLETE = "complete"
    WAITING = "waiting"  # a reply that has no text yet
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user
    INTERRUPTED = "interrupted"  # by a crash or a kill, found at the next start
    FAILED = "failed"  # the model could not answer; `error` says why


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as the chat shows it."""

    id: MessageId
    session_id: SessionId
    turn: TurnId
    role: Role
    text: str
    status: MessageStatus
    created_at: float  # s
    ended_at: float | None = None  # s; replies only
    model: str | None = None
    tokens_per_s: float | None = None
    error: str | None = None  # for the user
    note: str = ""  # for the user: what was done to the message on its way to the model
    kept: int = 0  # lines this turn put into memory, pending ones included


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One row of the conversation list."""

    id: SessionId
    title: str  # "" until something names it
    preview: str  # one line under the title
    created_at: float
    updated_at: float
    turn_count: int
    pinned: bool = False
    remember: bool = True  # False: "Temporary", nothing of it enters memory
    replying: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool in a turn; `arguments` None: not known."""

    name: str
    success: bool
    output: str = ""
    arguments: Mapping[str, object] | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A finished turn that comes from a transcript; times in s."""

    source_key: str
    user_text: str
    user_at: float
    reply_text: str
    reply_at: float
    tool_calls: tuple[ToolCall, ...] = ()


class ReplayStage(StrEnum):
    """What a replay is at."""

    TURNS = "turns"
    FILES = "files"  # everything said is remembered; archives, memory files and what closed segments need follow
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayProgress:
    """How far a replay is."""

    done_turns: int
    total_turns: int
    skipped_turns: int = 0  # already there from an earlier run
    bad_lines: tuple[tuple[int, str], ...] = ()  # (line number from 1, reason)
    session_ids: tuple[SessionId, ...] = field(default=())
    stage: ReplayStage = ReplayStage.TURNS
    jobs_left: int = 0  # while files are written


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """Everything that does not work as it should, one sentence each; empty when all is well."""

    problems: tuple[str, ...] = ()
    memory_busy: bool = False
