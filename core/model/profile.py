"""What is known of the user, and forgetting it."""

from dataclasses import dataclass
from enum import StrEnum

from core.model.files import Place
from core.model.ids import SessionId, TurnId


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
    place: Place | None = None  # None: the conversation is gone


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
