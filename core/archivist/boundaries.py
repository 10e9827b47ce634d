"""Where one segment of a conversation ends and the next begins.

Four checks, cheap to dear; the first that hits is the reason, and the message that triggers it
belongs to the new segment. Pure: no clock, storage or model, and the rules are data.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.archivist.drift import Vector, calibration, has_drifted, personal_threshold, same_model, similarity
from core.archivist.markers import is_acknowledgement, opens_topic
from core.archivist.words import all_phrases, find_terms, fold, is_cjk, split_words
from core.model import BoundaryReason, Role

MIN_REPLY_S = 0.001  # a reply ends at least this long after its message arrived: the user sorts first
LEXICAL_MIN_TURNS = 3
LEXICAL_MIN_SEGMENT_TERMS = 8
LEXICAL_MIN_WORDS = 3
LEXICAL_MIN_PAIRS = 4
LEXICAL_TEXTS = 6  # of the segment's last messages, both roles


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSegment:
    """The segment a message would join. Times in s since the epoch."""

    turn_count: int
    start_ts: float
    end_ts: float | None = None  # end of its last reply; None while none ended
    last_user_ts: float | None = None
    centroid: Vector | None = None  # mean of its user messages' vectors
    model: str | None = None  # signature of the model that made them
    recent_texts: Sequence[str] = ()  # its last messages, both roles, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """The user's message, reduced to what a boundary may depend on."""

    ts: float  # arrival, s since the epoch
    text: str
    embedding: Vector | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryRules:
    """Limits of a segment (settings of the same names)."""

    max_turns: int = 20
    max_gap_s: float = 600
    min_cosine: float | None = None  # None: what was measured for the model
    similarities: tuple[float, ...] = ()  # of this user's messages, by the same model: many move the model's threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """The verdict on one message."""

    reason: BoundaryReason | None  # None: the message joins the segment
    similarity: float | None = None  # to the centroid; None where it was not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimes:
    """The two stamps of a turn, in s and in whole ms."""

    user_ts: float
    assistant_ts: float
    user_ms: int
    assistant_ms: int


class Row(Protocol):
    """What membership of a segment depends on."""

    @property
    def session_id(self) -> str: ...
    @property
    def turn(self) -> int: ...
    @property
    def role(self) -> Role: ...


RowT = TypeVar("RowT", bound=Row)
DEFAULT_RULES = BoundaryRules()


def find_boundary(segment: OpenSegment, turn: NewTurn, rules: BoundaryRules = DEFAULT_RULES) -> Boundary:
    """Say whether the message opens a new segment, and why; drift is not held back here."""
    if segment.turn_count >= rules.max_turns:
        return Boundary(reason=BoundaryReason.TURN_COUNT)
    # From the end of the reply: the time a reply took is not the user's pause. A clock that jumped
    # back gives a negative gap, which is none.
    last = segment.start_ts if segment.end_ts is None else segment.end_ts
    if turn.ts - last > rules.max_gap_s:
        return Boundary(reason=BoundaryReason.TIME_GAP)
    if opens_topic(turn.text):
        return Boundary(reason=BoundaryReason.MARKER)
    model = turn.model or segment.model
    comparable = same_model(segment.model, turn.model)
    nearness = similarity(segment.centroid, turn.embedding, model) if comparable else None
    if is_acknowledgement(turn.text):
        return Boundary(reason=None, similarity=nearness)
    if nearness is None:
        drifted = has_other_words(segment, turn.text)
        return Boundary(reason=BoundaryReason.LEXICAL_DRIFT if drifted else None)
    threshold = rules.min_cosine
    if threshold is None:
        threshold = personal_threshold(rules.similarities, calibration(model).threshold)
    reason = BoundaryReason.DRIFT if has_drifted(nearness, threshold) else None
    return Boundary(reason=reason, similarity=nearness)


def has_other_words(segment: OpenSegment, text: str) -> bool:
    """Whether a message shares no term with the segment and does not refer back to it.

    The stand-in for vectors: it needs enough words on both sides, in the same script, to mean
    anything.
    """
    if segment.turn_count < LEXICAL_MIN_TURNS:
        return False
    new = find_terms([text])
    if len(new.words) < LEXICAL_MIN_WORDS and len(new.pairs) < LEXICAL_MIN_PAIRS:
        return False
    old = find_terms(segment.recent_texts[-LEXICAL_TEXTS:])
    if len(old) < LEXICAL_MIN_SEGMENT_TERMS or new.words & old.words or new.pairs & old.pairs:
        return False
    # An answer in another script shares no term whatever it is about.
    by_words = len(new.words) >= LEXICAL_MIN_WORDS and len(old.words) >= LEXICAL_MIN_WORDS
    by_pairs = len(new.pairs) >= LEXICAL_MIN_PAIRS and len(old.pairs) >= LEXICAL_MIN_PAIRS
    return (by_words or by_pairs) and not _refers_back(text)


def stamp_turn(arrived: float, reply_end: float) -> TurnTimes:
    """Return the stamps of a turn: the message's arrival, the reply's end, the user always first."""
    ended = max(reply_end, arrived + MIN_REPLY_S)
    user_ms = round(arrived * 1000)
    return TurnTimes(
        user_ts=arrived,
        assistant_ts=ended,
        user_ms=user_ms,
        assistant_ms=max(round(ended * 1000), user_ms + 1),
    )


def select_members(rows: Iterable[RowT], *, session_id: str, first_turn: int, last_turn: int | None) -> list[RowT]:
    """Return a segment's rows in order: by session and turn number, never by time or row id."""
    last = first_turn if last_turn is None else last_turn
    members = [row for row in rows if row.session_id == session_id and first_turn <= row.turn <= last]
    return sorted(members, key=lambda row: (row.turn, row.role is not Role.USER))


def _refers_back(text: str) -> bool:
    known = all_phrases("boundaries", "refers_back")
    folded = fold(text)
    if any(word in known for word in split_words(folded)):
        return True
    return any(is_cjk(phrase) and phrase in folded for phrase in known)
