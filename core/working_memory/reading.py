"""What a turn says by itself: all that the heuristics read in its two texts, whatever memory holds.

Pure. A reading is plain data, so that another process can make it; `propose` takes it, or makes it itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.text.clauses import Clause, read_clauses
from core.text.language import detect_language, guess_language
from core.text.orders import MemoryCommand, find_commands
from core.working_memory.heuristic_dates import local_time
from core.working_memory.heuristic_files import FilesReading, read_files
from core.working_memory.heuristic_lines import Line, read_lines
from core.working_memory.heuristic_model import TurnText
from core.working_memory.heuristic_state import StateReading, read_state
from core.working_memory.heuristic_title import Phrases, read_phrases
from core.working_memory.heuristic_trouble import TroubleReading, read_trouble

Heard = Mapping[tuple[str, str], Phrases]  # (text of the user's, language of the conversation) -> its phrases
NOTHING_HEARD: Heard = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReading:
    """One turn as it was read; `source` and `language` are what it was made of."""

    source: tuple[str, str, float, float]  # the user's text, the reply, time in s, offset of the clock in s
    language: str  # of the conversation, BCP 47
    guess: str | None  # of the user's words (`guess_language`)
    clauses: tuple[Clause, ...]
    phrases: Phrases
    state: StateReading
    commands: tuple[MemoryCommand, ...]
    lines: tuple[Line, ...]
    trouble: TroubleReading
    files: FilesReading

    def fits(self, turn: TurnText, language: str) -> bool:
        """Say whether reading this turn in a conversation of a language would give the same."""
        return self.language == language and self.reads(turn)

    def reads(self, turn: TurnText) -> bool:
        """Say whether this is a reading of a turn of these texts."""
        return self.source == _source(turn)


def read_turn(turn: TurnText, language: str) -> TurnReading:
    """Read a turn of a conversation of a language."""
    clauses = read_clauses(turn.user)
    said_at = local_time(turn.at, turn.utc_offset_s)
    return TurnReading(
        source=_source(turn),
        language=language,
        guess=guess_language(turn.user),
        clauses=clauses,
        phrases=read_phrases(turn.user, language),
        state=read_state(turn, clauses, detect_language(turn.user, language)),
        commands=find_commands(turn.user),
        lines=read_lines(turn, clauses, said_at),
        trouble=read_trouble(turn, clauses, said_at),
        files=read_files(turn, clauses),
    )


def _source(turn: TurnText) -> tuple[str, str, float, float]:
    return turn.user, turn.reply, turn.at, turn.utc_offset_s
