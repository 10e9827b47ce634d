"""What one turn means for its conversation: its segment, the lines worth keeping, the topic.

`notice` is pure and takes all it rests on as data; `store_segment` writes the outcome inside
the caller's transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.archivist.boundaries import BoundaryRules, NewTurn, OpenSegment, find_boundary
from core.archivist.drift import pack_vector, update_centroid
from core.archivist.topics import name_topic, summarise
from core.model import BoundaryReason, Role, Section, SessionId, TurnId
from core.sessions.fold import gather_known
from core.storage import segments
from core.storage.database import Connection
from core.storage.episodic import EpisodicRow
from core.storage.memory_versions import PendingLine, Version
from core.storage.segments import SegmentRow
from core.text.language import detect_language
from core.text.tokens import truncate_tokens
from core.working_memory.heuristics import Proposal, TurnText, propose

# Heuristics read this much of one message: past it is pasted material, and time is the user's.
MAX_READ_TOKENS = 6_000
NAMED_AT_TURNS = (2, 3, 5, 8, 13)  # of a segment; its close names it for good


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """One vector a text, float32 little endian, empty where the text was blank."""

    signature: str
    dimension: int
    values: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that the decisions about a turn rest on; texts are redacted, times in s."""

    session_id: SessionId
    turn: TurnId
    rows: tuple[EpisodicRow, ...]  # the user's first, then the reply's where there is one
    arrived: float
    reply_end: float | None
    open_segment: SegmentRow | None
    segment_texts: tuple[str, ...]  # the user's, of the open segment, this turn's included
    recent_texts: tuple[str, ...]
    recent_user_texts: tuple[str, ...]
    version: Version | None
    pending: tuple[PendingLine, ...]
    language: str  # "" while unknown

    def text_of(self, role: Role) -> str:
        return next((row.content for row in self.rows if row.role is role), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """The decisions about a turn."""

    reason: BoundaryReason | None  # why a new segment begins; None: the turn joins the open one
    similarity: float | None
    centroid: bytes | None
    vectors: int  # in the centroid
    model: str | None
    topic: str  # of the segment that holds the turn
    closed_title: str
    closed_summary: str
    lines: tuple[tuple[Section, str, str | None], ...]
    language: str
    title: str  # for the conversation, "" to leave it
    preview: str

    @property
    def kept(self) -> int:
        """Lines that the user would count as remembered."""
        return sum(1 for section, _, _ in self.lines if section not in (Section.TITLE, Section.STATE))


def notice(situation: Situation, vectors: Vectors | None, rules: BoundaryRules) -> Noticed:
    """Decide what a turn means: boundary first, then memory lines, then names."""
    user = truncate_tokens(situation.text_of(Role.USER), MAX_READ_TOKENS)
    reply = truncate_tokens(situation.text_of(Role.ASSISTANT), MAX_READ_TOKENS)
    vector = _user_vector(situation, vectors)
    model = vectors.signature if vectors else None
    segment = situation.open_segment
    reason, similarity = None, None
    if segment is not None:
        boundary = find_boundary(
            _describe_segment(segment, situation),
            NewTurn(ts=situation.arrived, text=user, embedding=vector, model=model),
            rules,
        )
        reason, similarity = boundary.reason, boundary.similarity
    language = _choose_language(situation, user)
    known = gather_known(
        situation.version, situation.pending, recent_user_texts=situation.recent_user_texts, language=language
    )
    proposals = propose(TurnText(turn=situation.turn, at=situation.arrived, user=user, reply=reply), known)
    starts_new = segment is None or reason is not None
    own_texts = [user] if starts_new else [*situation.segment_texts]
    closed_title, closed_summary = "", ""
    if segment is not None and reason is not None:
        closed_title, closed_summary = describe(situation.segment_texts[:-1], language)
    centroid, count = _next_centroid(None if starts_new else segment, vector, model)
    return Noticed(
        reason=reason,
        similarity=similarity,
        centroid=centroid,
        vectors=count,
        model=model if vector is not None else (None if starts_new or segment is None else segment.model),
        topic=_name_topic(None if starts_new else segment, own_texts, language),
        closed_title=closed_title,
        closed_summary=closed_summary,
        lines=tuple((p.section, p.text, p.replaces) for p in proposals),
        language=language,
        title=_choose_title(proposals),
        preview=_choose_preview(proposals),
    )


def describe(texts: Sequence[str], language: str) -> tuple[str, str]:
    """Return a finished segment's title and its extractive summary."""
    return name_topic(texts, language), summarise(texts)


def store_segment(c: Connection, situation: Situation, noticed: Noticed, *, now: float) -> None:
    """Append the turn to the open segment, or close that and open the next, in one transaction."""
    segment = situation.open_segment
    if segment is not None and noticed.reason is None:
        segments.append_turn(
            c,
            segment.id,
            situation.turn,
            arrived=situation.arrived,
            reply_end=situation.reply_end,
            centroid=noticed.centroid,
            vectors=noticed.vectors,
            model=noticed.model,
            title=noticed.topic,
            now=now,
        )
        return
    gap_s = None
    if segment is not None and noticed.reason is not None:
        last = segment.start_ts if segment.end_ts is None else segment.end_ts
        gap_s = max(0.0, situation.arrived - last)
        segments.close(
            c,
            segment.id,
            closed_by=noticed.reason,
            title=noticed.closed_title,
            summary=noticed.closed_summary,
            now=now,
        )
    segments.open_new(
        c,
        situation.session_id,
        situation.turn,
        arrived=situation.arrived,
        reply_end=situation.reply_end,
        opened_by=noticed.reason,
        gap_s=gap_s,
        centroid=noticed.centroid,
        model=noticed.model,
        title=noticed.topic,
        now=now,
    )


def _name_topic(segment: SegmentRow | None, texts: Sequence[str], language: str) -> str:
    """Name the open segment anew while it is young; later turns change its topic less and less."""
    if segment is not None and segment.title and segment.turn_count + 1 not in NAMED_AT_TURNS:
        return segment.title
    return name_topic(texts, language)


def _describe_segment(segment: SegmentRow, situation: Situation) -> OpenSegment:
    return OpenSegment(
        turn_count=segment.turn_count,
        start_ts=segment.start_ts,
        end_ts=segment.end_ts,
        last_user_ts=segment.last_user_ts,
        centroid=segment.centroid,
        model=segment.model,
        recent_texts=situation.recent_texts,
    )


def _user_vector(situation: Situation, vectors: Vectors | None) -> bytes | None:
    if vectors is None:
        return None
    pairs = zip(situation.rows, vectors.values, strict=True)
    return next((value for row, value in pairs if row.role is Role.USER and value), None)


def _next_centroid(segment: SegmentRow | None, vector: bytes | None, model: str | None) -> tuple[bytes | None, int]:
    if segment is None:
        return vector, int(vector is not None)
    if vector is None:
        return segment.centroid, segment.vectors
    updated = update_centroid(segment.centroid, vector, segment.vectors, model=segment.model, new_model=model)
    return (None if updated.centroid is None else pack_vector(updated.centroid)), updated.count


def _choose_language(situation: Situation, user: str) -> str:
    """The conversation's language changes when two messages in a row agree on another (working-memory.md 16)."""
    current = situation.language
    detected = detect_language(user, current or "en")
    if not current or detected == current:
        return detected
    before = situation.recent_user_texts[-1] if situation.recent_user_texts else ""
    return detected if detect_language(before, current) == detected else current


def _choose_title(proposals: Sequence[Proposal]) -> str:
    return next((p.text for p in proposals if p.section is Section.TITLE), "")


def _choose_preview(proposals: Sequence[Proposal]) -> str:
    """The list shows the newest thing that was kept; the user's last words stand until there is one."""
    worth = (Section.FACTS, Section.ERRORS, Section.GOALS, Section.ISSUES)
    return next((p.text.splitlines()[0] for section in worth for p in proposals if p.section is section), "")
