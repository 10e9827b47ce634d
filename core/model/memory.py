"""Working Memory: its sections, lines and versions, changes by the user, and commits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.model.ids import SessionId, TurnId


class Section(StrEnum):
    """The seven sections of Working Memory, in order. The values are written to disk."""

    TITLE = "Session Title"
    STATE = "Current State"
    GOALS = "Task & Goals"
    FACTS = "Key Facts & Decisions"
    FILES = "Files & Context"
    ERRORS = "Errors & Corrections"
    ISSUES = "Open Issues"


class Origin(StrEnum):
    """Where a remembered line comes from. The values are stored."""

    USER = "user"
    HEURISTIC = "heuristic"
    MODEL = "model"
    RESTORED = "restored"


class LineState(StrEnum):
    """How a line of Working Memory stands against the version before."""

    KEPT = "kept"
    ADDED = "added"
    RESTORED = "restored"  # a guard brought it back
    REMOVED = "removed"  # shown struck through
    PENDING = "pending"  # noticed since the last commit, enters with the next one


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """One line of Working Memory with its evidence."""

    text: str
    origin: Origin
    state: LineState
    turns: tuple[TurnId, ...] = ()
    locked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedLine:
    """A line that waits outside the document (see spec: the parked list)."""

    text: str
    reason: str  # in words, for the user
    turns: tuple[TurnId, ...] = ()
    origin: Origin | None = None  # None: not known
    at: float | None = None  # s; since when it waits


class EditKind(StrEnum):
    """What a user did with a line of Working Memory. The values are stored: never rename one."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"
    MOVE = "move"  # to another section
    LOCK = "lock"
    UNLOCK = "unlock"
    BRING_BACK = "bring back"  # from the parked list
    DROP = "drop"  # from the parked list
    PARK = "park"  # how dropping or bringing back is undone


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdit:
    """One change of one line by the user. Lines are named by their text, so that it can be applied to any version."""

    kind: EditKind
    section: Section
    text: str  # the line as it stood; of ADD and PARK the line that comes
    new_text: str = ""  # CHANGE
    to: Section | None = None  # MOVE
    after: str | None = None  # ADD, MOVE: the line above it, "" for the top, None for the end
    origin: Origin = Origin.USER  # ADD, CHANGE
    turns: tuple[TurnId, ...] = ()  # ADD, PARK; CHANGE: where the line's own do not stay
    locked: bool = False  # ADD
    reason: str = ""  # PARK
    since: float | None = None  # PARK; s


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a commit did with one section, in words."""

    section: Section
    asked: str  # KEEP, UPDATE, APPEND
    applied: str
    reason: str  # one sentence for the user; "" when there is nothing to say
    restored: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()  # duplicates, placeholders, pointers


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLine:
    """What an update wanted to put in the place of a locked line; the user takes or dismisses it."""

    line: str  # the locked one
    text: str
    turns: tuple[TurnId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySection:
    """One section as the Memory tab shows it, removed and pending lines included, in order."""

    section: Section
    lines: tuple[MemoryLine, ...]
    tokens: int  # estimate of the committed body
    parked: tuple[ParkedLine, ...] = ()
    wanted: tuple[WantedLine, ...] = ()  # against locked lines; not in `parked`
    warning: str = ""  # in words, where the section is over its limits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """A version of a conversation's Working Memory; all seven sections, in order."""

    session_id: SessionId
    version: int  # 0: nothing committed yet
    newest: int
    committed_at: float | None
    sections: tuple[MemorySection, ...]
    decisions: tuple[Decision, ...] = ()
    pending_tokens: int = 0  # of live messages that the next commit would archive
    cause: str = ""  # why this version was committed, in words
    turn_numbers: Mapping[TurnId, int] = field(default_factory=dict)  # place in this conversation, from 1
    undo: str = ""  # the user's change that can be taken back, in words: `you removed “…”`
    redo: str = ""  # the one that was taken back last
    mode: str = ""  # who made the update: write, select, heuristics, user
    notes: tuple[str, ...] = ()  # what the update could not do, and what is wrong with the whole; a sentence each


class ChangeKind(StrEnum):
    """How a line differs between two versions."""

    CAME = "came"
    WENT = "went"
    CHANGED = "changed"
    RESTORED = "restored"
    LOCKED = "locked"
    UNLOCKED = "unlocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """One line's difference; `before` or `after` is "" where there was or is none."""

    section: Section
    kind: ChangeKind
    before: str
    after: str
    reason: str = ""  # what the checks said of it, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDiff:
    """How two versions differ, in the order of the sections."""

    older: int
    newer: int
    changes: tuple[LineChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """A version in the list of versions; `came` and `went` count lines against the version before."""

    number: int
    at: float  # s
    cause: str
    lines: int
    came: int
    went: int


class CommitStep(StrEnum):
    """Where the commit of an archive stands."""

    ARCHIVING = "archiving"
    WAITING = "waiting"  # for the archive before it
    UPDATING = "updating"  # Working Memory
    EXTRACTING = "extracting"  # what goes to long-term memory
    FINISHING = "finishing"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStage:
    """A part of a commit that was given up: what failed, in words."""

    stage: str  # memory, extraction, files
    error: str
    attempts: int
    at: float  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedArchive:
    """An archive that waits for the user's retry; its messages are safe, shown raw while `in_memory` is False."""

    session_id: SessionId
    number: int
    archived_at: float  # s
    in_memory: bool
    stages: tuple[FailedStage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What came of a compact."""

    step: CommitStep  # DONE, FAILED or STOPPED
    archives: tuple[int, ...] = ()  # those it made or tried again
    messages: int = 0  # in these archives
    version: int = 0  # the newest of Working Memory
    error: str = ""  # for the user
