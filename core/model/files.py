"""Memory files and the long-term goals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.model.ids import SessionId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One recorded write of a memory file."""

    id: int
    file: str  # MEMORY.md, SKILL.md or MEMORY_GOALS.md
    at: float
    actor: str  # "Keepsake", "you (in another editor)", "keepsake-jobs"
    cause: str  # in words
    turns: tuple[TurnId, ...]
    before: str
    after: str
    undoes: int | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One bullet of a memory file: the line as it stands, its words, and whose it is."""

    line: int  # from 1
    raw: str
    text: str
    by_user: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The conversation of a turn."""

    session_id: SessionId
    title: str = ""
    number: int | None = None  # of the turn in it, from 1; None: not asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """A memory file as it is on disk, newest change first."""

    name: str
    path: str
    text: str
    changes: tuple[FileChange, ...] = ()
    problem: str = ""  # why it cannot be read, in words
    warning: str = ""  # what to know of it, in words: a second name, a writer at work
    entries: tuple[FileEntry, ...] = ()
    places: Mapping[TurnId, Place] = field(default_factory=dict)  # conversations of the changes' turns


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDone:
    """What a change by the user came to: its number for undo, None if nothing changed; a note for the user or ""."""

    change_id: int | None
    note: str = ""


class GoalKind(StrEnum):
    """What a proposal would do with the list of long-term goals. The values are stored."""

    ADD = "add"
    EDIT = "edit"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTermGoal:
    """A goal in MEMORY_GOALS.md; `by_user`: the user wrote it, so the program only proposes against it."""

    id: str
    text: str
    by_user: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalProposal:
    """A change of the list that waits for the user; `before` is the goal as it stands, "" for a new one."""

    id: int
    kind: GoalKind
    goal_id: str
    before: str
    text: str
    turns: tuple[TurnId, ...]
    why: str
    at: float  # s
    places: Mapping[TurnId, Place] = field(default_factory=dict)  # conversations of the turns that are there


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsState:
    """The goals in the file's order, and what is proposed, oldest first."""

    goals: tuple[LongTermGoal, ...]
    proposals: tuple[GoalProposal, ...]
