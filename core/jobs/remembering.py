"""What one turn means for its conversation: its segment, the lines worth keeping, the topic.

Pure: `notice` takes all it rests on as data.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.archivist.boundaries import BoundaryRules
from core.archivist.topic_shift import Spoken
from core.jobs import segmentation
from core.jobs.reading import choose_language, make_turn
from core.jobs.segmentation import Arrival, Plan
from core.model import Role, Section, SessionId, TurnId
from core.profile.forgetting import cut_forgotten
from core.sessions.fold import gather_known
from core.sessions.view import SINGLE
from core.storage.conversations import Standing
from core.storage.episodic import EpisodicRow
from core.storage.memory_versions import PendingLine, Version
from core.storage.segments import SegmentRow, Times
from core.text.language import guess_language
from core.working_memory.heuristic_title import Phrases
from core.working_memory.heuristics import Proposal, propose
from core.working_memory.reading import NOTHING_HEARD, Heard, TurnReading, read_turn


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
    recent_texts: tuple[str, ...]
    recent_user_texts: tuple[str, ...]
    version: Version | None
    pending: tuple[PendingLine, ...]
    standing: Standing
    spoken: tuple[tuple[TurnId, Spoken], ...] = ()  # the user's last messages with vectors, oldest first
    similarities: tuple[float, ...] = ()  # of the user's messages to their segments, by the same model
    forgotten: frozenset[str] = frozenset()  # hashes of what must not come back

    def text_of(self, role: Role) -> str:
        return next((row.content for row in self.rows if row.role is role), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """The decisions about a turn."""

    arrival: Arrival
    plan: Plan
    lines: tuple[tuple[Section, str, str | None], ...]
    title: str  # for the conversation, "" to leave it
    preview: str
    asked_to_remember: bool
    phrases: Phrases  # that may name a topic

    @property
    def kept(self) -> int:
        """Lines that the user would count as remembered."""
        return count_kept(section for section, _, _ in self.lines)


def count_kept(sections: Iterable[Section]) -> int:
    """Count the lines that the user would call remembered: title and state follow the talk by themselves."""
    return sum(1 for section in sections if section not in SINGLE)


def notice(
    situation: Situation,
    vectors: Vectors | None,
    rules: BoundaryRules,
    *,
    confirm_drift: bool,
    reading: TurnReading | None = None,
    heard: Heard = NOTHING_HEARD,
) -> Noticed:
    """Decide what a turn means: its segment first, then memory lines, then names.

    `reading` is that of the turn if it was read ahead, `heard` what is at hand of the readings before it.
    """
    said = cut_forgotten(situation.text_of(Role.USER), situation.forgotten)
    turn = make_turn(said, situation.text_of(Role.ASSISTANT), situation.arrived, situation.turn)
    before = situation.recent_user_texts[-1] if situation.recent_user_texts else ""
    guess = reading.guess if reading is not None and reading.reads(turn) else guess_language(turn.user)
    language = choose_language(situation.standing.language, before, guess)
    if reading is None or not reading.fits(turn, language):
        reading = read_turn(turn, language)
    arrival = Arrival(
        session_id=situation.session_id,
        turn=situation.turn,
        times=Times(arrived=situation.arrived, ended=situation.reply_end),
        text=turn.user,
        vector=_user_vector(situation, vectors),
        model=vectors.signature if vectors else None,
        recent_texts=situation.recent_texts,
        language=language,
        spoken=situation.spoken,
    )
    known = gather_known(
        situation.version,
        situation.pending,
        recent_user_texts=[cut_forgotten(text, situation.forgotten) for text in situation.recent_user_texts],
        language=language,
    )
    proposals = propose(turn, known, reading, heard)
    return Noticed(
        arrival=arrival,
        plan=segmentation.plan(situation.open_segment, arrival, rules, confirm=confirm_drift),
        lines=tuple((p.section, p.text, p.replaces) for p in proposals),
        title=_choose_title(proposals),
        preview=_choose_preview(proposals),
        asked_to_remember=any(order.command == "remember" for order in reading.commands),
        phrases=reading.phrases,
    )


def _user_vector(situation: Situation, vectors: Vectors | None) -> bytes | None:
    if vectors is None:
        return None
    pairs = zip(situation.rows, vectors.values, strict=True)
    return next((value for row, value in pairs if row.role is Role.USER and value), None)


def _choose_title(proposals: Sequence[Proposal]) -> str:
    return next((p.text for p in proposals if p.section is Section.TITLE), "")


def _choose_preview(proposals: Sequence[Proposal]) -> str:
    """The list shows the newest thing that was kept; the user's last words stand until there is one."""
    worth = (Section.FACTS, Section.ERRORS, Section.GOALS, Section.ISSUES)
    return next((p.text.splitlines()[0] for section in worth for p in proposals if p.section is section), "")
