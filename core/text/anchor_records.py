"""What an anchor is: its kind and canonical form. Pure records; `core.text.anchors` finds and compares them."""

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):  # of text: hashed without a call of Python code
    """What an anchor is."""

    DATE = "date"
    PARTIAL_DATE = "partial date"
    AMBIGUOUS_DATE = "ambiguous date"
    TIME = "time"
    NUMBER = "number"
    IDENTIFIER = "identifier"  # versions too
    REFERENCE = "reference"
    NAME = "name"
    DECISION = "decision word"
    TERM = "CJK term"


_SOFT = frozenset([Kind.DECISION, Kind.TERM])


@dataclass(frozen=True, slots=True)
class Anchor:
    """One anchor in canonical form; numbers keep value and unit apart."""

    kind: Kind
    text: str
    value: str = ""
    unit: str = ""

    @property
    def is_hard(self) -> bool:
        return self.kind not in _SOFT


@dataclass(frozen=True, slots=True)
class Anchors:
    """The anchors of a text in its order, each once."""

    all: tuple[Anchor, ...]
    hard: tuple[Anchor, ...] = field(init=False, compare=False)  # asked for far more often than found

    def __post_init__(self) -> None:
        object.__setattr__(self, "hard", tuple(anchor for anchor in self.all if anchor.is_hard))

    @property
    def soft(self) -> tuple[Anchor, ...]:
        return tuple(anchor for anchor in self.all if not anchor.is_hard)

    @property
    def canonical(self) -> tuple[str, ...]:
        return tuple(anchor.text for anchor in self.all)
