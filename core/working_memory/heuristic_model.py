"""What the heuristics read and propose; re-exported by `core.working_memory.heuristics`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.model import Section, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnText:
    """One turn as the heuristics read it, redacted already."""

    turn: TurnId
    at: float  # s since the Unix epoch, UTC; 0 where it is unknown
    user: str
    reply: str = ""
    utc_offset_s: float = 0.0  # of the user's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One line for one section; `replaces` names the known line that it takes the place of."""

    section: Section
    text: str
    turns: tuple[TurnId, ...]
    replaces: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What memory holds already, committed and pending, and what the user said lately."""

    items: Mapping[Section, tuple[str, ...]] = field(default_factory=dict)
    recent: tuple[str, ...] = ()  # the last user texts, oldest first, without the turn at hand
    language: str = "en"  # BCP 47

    def of(self, section: Section) -> tuple[str, ...]:
        """Return the lines of a section."""
        return self.items.get(section, ())
