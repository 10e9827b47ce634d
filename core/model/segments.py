"""Segments of conversations, their recaps, and the memory tree over them."""

from dataclasses import dataclass
from enum import StrEnum

from core.model.ids import SegmentId, SessionId, TurnId


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
    numbers: tuple[int, ...] = ()  # of a leaf's turns in their conversation, from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTurn:
    """A turn at which a segment may be split; `number` is its place in the conversation, from 1."""

    turn: TurnId
    number: int
    text: str  # how the user's message begins
