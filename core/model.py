"""Words shared by all rooms: ids and the frozen records that cross from core to app.

Times are `float` seconds since the Unix epoch, UTC. A *turn* is one user message with its
reply; turn numbers ascend over the whole store, so they are evidence ids too. A *session* is
one conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", int)
MessageId = NewType("MessageId", int)
SegmentId = NewType("SegmentId", str)


class Role(StrEnum):
    """Who speaks. The values are stored: never rename one."""

    USER = "user"
    ASSISTANT = "assistant"


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


class BoundaryReason(StrEnum):
    """Why a segment was closed. The values are stored and part of the spec's vectors."""

    TURN_COUNT = "turn_count_exceeded"
    TIME_GAP = "time_gap"
    MARKER = "explicit_marker"
    DRIFT = "embedding_drift"
    LEXICAL_DRIFT = "lexical_drift"
    FLUSH = "flush"  # session end, idle or start-up sweep
    HAND = "by_hand"  # the user cut there


class RecapSource(StrEnum):
    """Who made a segment's summary. The values are stored."""

    MODEL = "model"  # written, and checked against the turns
    SELECTED = "selected"  # sentences of the turns, picked by a model
    VERBATIM = "verbatim"  # the turns themselves
    HEURISTIC = "heuristic"  # how it began and ended, and its best sentences: a placeholder


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRecap:
    """How the recap of a closed segment stands."""

    source: RecapSource
    usable: bool  # False: the summary is a placeholder
    working: bool = False  # queued or being made
    model: str | None = None
    error: str = ""  # why there is none, for the user
    attempts: int = 0
    next_try_at: float | None = None  # s
    named_by_user: bool = False
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of one conversation about one thing."""

    id: SegmentId
    session_id: SessionId
    first_turn: TurnId
    last_turn: TurnId
    turn_count: int
    started_at: float
    ended_at: float | None
    is_open: bool
    opened_by: BoundaryReason | None  # None: the conversation's first
    gap_s: float | None  # silence before it
    title: str  # its topic in a few words
    summary: str
    similarities: tuple[float, ...] = ()  # of each user message to the centroid before it
    recap: SegmentRecap | None = None  # None while it is open
    places: tuple[int, int] | None = None  # of its first and last turn in the conversation, from 1


class TreeView(StrEnum):
    """How the memory tree is looked at."""

    CONVERSATION = "conversation"
    MONTH = "month"
    YEAR = "year"
    LEVEL = "level"  # the summaries over it, as they were sealed


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeItem:
    """A place in the memory tree: a heading, a summary, or a leaf that holds what was said. Times in s.

    `ref` finds what lies below it; "" where nothing does.
    """

    ref: str
    title: str
    started_at: float
    ended_at: float
    leaves: int = 0  # below a heading
    tokens: int = 0
    text: str = ""  # of a summary or leaf
    placeholder: bool = False  # a summary made without a model
    session_id: SessionId | None = None  # leaves
    turns: tuple[TurnId, ...] = ()  # leaves


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


class ModelPhase(StrEnum):
    """What the model host is doing."""

    ABSENT = "absent"  # no model file
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    READING = "reading"  # evaluates the prompt
    WRITING = "writing"
    ASLEEP = "asleep"  # unloaded after a time without use; the next request wakes it
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """The model's state for the status bar."""

    name: str
    phase: ModelPhase
    detail: str = ""  # one sentence; for FAILED the reason and what to do
    tokens_per_s: float | None = None
    context_used_tokens: int = 0
    context_size_tokens: int = 0
    reused_share: float | None = None  # of the last prompt's tokens, 0..1


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """Everything that does not work as it should, one sentence each; empty when all is well."""

    problems: tuple[str, ...] = ()
    memory_busy: bool = False


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


class FacetOrigin(StrEnum):
    """Who says so, weakest first. The values are stored."""

    INFERRED = "inferred"
    STATED = "stated"
    EXPLICIT = "explicit"  # by "remember …"
    USER = "user"  # edited, confirmed or pinned by hand

    @property
    def rank(self) -> int:
        """Higher wins."""
        return list(FacetOrigin).index(self)


class FacetClass(StrEnum):
    """What a facet is good for. The values are stored; in this order they are shown."""

    IDENTITY = "identity"
    VETO = "veto"
    STYLE = "style"
    TOOLING = "tooling"
    GOAL = "goal"
    CHANNEL = "channel"


class FacetState(StrEnum):
    """How strong a facet is at present; never stored, for it changes with time."""

    ACTIVE = "active"
    PROVISIONAL = "provisional"
    CANDIDATE = "candidate"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetSource:
    """A turn that a value rests on."""

    turn: TurnId
    session_id: SessionId
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerValue:
    """What a facet said before."""

    text: str
    since: float
    until: float
    sources: tuple[FacetSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetConflict:
    """Something else that was said and did not replace the value."""

    id: int
    text: str
    source: FacetSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFacet:
    """One thing known of the user, in their own words, with what it rests on."""

    id: str
    facet_class: FacetClass
    text: str
    origin: FacetOrigin
    state: FacetState
    score: float
    segments: int  # in how many it was said
    since: float
    last_at: float
    ended_at: float | None = None  # when the user said that it holds no longer
    pinned: bool = False
    sources: tuple[FacetSource, ...] = ()  # oldest first
    history: tuple[FormerValue, ...] = ()  # newest first
    conflicts: tuple[FacetConflict, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether the user is to decide: two contradictions from different places."""
        return len(self.conflicts) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetLine:
    """A line that says what is to be forgotten."""

    place: str  # the file's name, or the title of the conversation whose memory holds it
    text: str
    session_id: SessionId | None = None  # None: a file
    left: str = ""  # what stays of it, as it says other things too
    locked: bool = False  # the user's own lock: it stays


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What forgetting would remove, in words where there are any."""

    facet_ids: tuple[str, ...]
    texts: tuple[str, ...]
    events: int
    recaps: int
    lines: tuple[ForgetLine, ...]  # of the files and of conversations' memories
    asked: str = ""  # what the user asked to forget in the chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """All that is known of the user, and what waits for their word."""

    facets: tuple[ProfileFacet, ...] = ()
    to_forget: ForgetPreview | None = None
    undo: str = ""  # what the last change by hand was, while it can be taken back


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """What the memory exam found out about a chat model; shares are 0..1, None where nothing was measured."""

    model: str  # file name
    sha256: str
    taken_at: float
    took_s: float
    verdict: str  # write, select or off: what the model is used for when memory is updated
    sentence: str  # the same in words
    useful: tuple[str, ...] = ()  # select questions that help, as "en:keep", "zh:settled"
    tokens_per_s: float | None = None
    valid_calls: float | None = None
    supported_items: float | None = None
    written_recall: float | None = None  # of the lines worth keeping that it wrote
    resolved_accuracy: float | None = None  # heuristics and model together
    resolved_accuracy_alone: float | None = None  # of the heuristics
    newer_accuracy: float | None = None
    kept_f1: float | None = None  # heuristics and the model's choices together
    kept_f1_ranked: float | None = None  # heuristics and as many sentences chosen without the model
    kept_f1_alone: float | None = None  # of the heuristics
    kept_precision: float | None = None
    kept_recall: float | None = None
    complete: bool = True  # False: the time was over first


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
