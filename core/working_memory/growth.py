"""How far a section may grow, and which facts enter when it is long.

Pure. Beyond a threshold five facts enter at an update and the rest waits in the parked list;
beyond twice the threshold nothing enters until the section has been consolidated, and one line,
the sentinel, asks for that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from core.model import ParkedLine, Section
from core.text.anchors import is_covered
from core.text.items import SENTINEL_START, BodyItem
from core.text.tokens import estimate_tokens
from core.working_memory.bodies import count_items, count_tokens, read_body, remove_items, strip_sentinel
from core.working_memory.parked import ParkReason, park, returns_by_itself
from core.working_memory.parked_index import index_parked

THRESHOLD_ITEMS = 25
THRESHOLD_TOKENS = 1500
STOP_ITEMS = 2 * THRESHOLD_ITEMS  # also the ceiling of the lists that are cut by code
STOP_TOKENS = 2 * THRESHOLD_TOKENS
APPEND_CAP = 5  # facts an update, between threshold and stop
DOCUMENT_TOKENS = 12_000

SENTINEL = f"{SENTINEL_START}: this section is full, rewrite it shorter with UPDATE and drop no fact]"

CEILED = frozenset({Section.GOALS, Section.FILES, Section.ERRORS, Section.ISSUES})


class Zone(Enum):
    """How a section takes new facts."""

    NORMAL = auto()
    THROTTLED = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a body counts and costs; the sentinel is left out."""

    items: int
    tokens: int

    @property
    def zone(self) -> Zone:
        """The zone of a body of this size; "over" means strictly more."""
        if self.items > STOP_ITEMS or self.tokens > STOP_TOKENS:
            return Zone.STOPPED
        if self.items > THRESHOLD_ITEMS or self.tokens > THRESHOLD_TOKENS:
            return Zone.THROTTLED
        return Zone.NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Which candidates enter now, and who waits afterwards."""

    zone: Zone
    entering: tuple[str, ...]
    parked: tuple[ParkedLine, ...]
    waiting: tuple[str, ...]  # fresh ones that were parked now


def measure(body: str) -> Size:
    """Return the size of a body."""
    return Size(items=count_items(body), tokens=count_tokens(body))


def take_in(body: str, parked: Sequence[ParkedLine], fresh: Sequence[str]) -> Intake:
    """Decide which facts enter `body`: those that wait, oldest first, then the fresh ones."""
    queued = index_parked(tuple(parked))
    others = [text for text in fresh if not queued.holds(text, returns_by_itself)]
    size = measure(body)
    if size.zone is Zone.STOPPED:
        return Intake(zone=size.zone, entering=(), parked=park(parked, others, ParkReason.STOP), waiting=tuple(others))
    candidates = [line.text for line in parked if returns_by_itself(line)] + others
    entering = _choose(strip_sentinel(body), size, candidates)
    chosen = set(entering)
    stays = [line for line in parked if line.text not in chosen or not returns_by_itself(line)] if chosen else parked
    late = tuple(text for text in others if text not in chosen)
    return Intake(zone=size.zone, entering=tuple(entering), parked=park(stays, late, ParkReason.CAP), waiting=late)


def _choose(body: str, size: Size, candidates: Sequence[str]) -> list[str]:
    """The candidates that enter, in order; none is asked for in the stop."""
    if size.zone is Zone.THROTTLED:
        return list(candidates[:APPEND_CAP])
    chosen: list[str] = []
    count, cost = size.items, size.tokens
    for text in candidates:
        added = estimate_tokens(f"\n- {text}") + 1  # rounding up twice never counts too little
        if count + 1 <= STOP_ITEMS and cost + added <= STOP_TOKENS:
            chosen.append(text)
            count, cost = count + 1, cost + added
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A body brought under its ceiling, and what had to leave it."""

    body: str
    removed: tuple[str, ...]


def hold_ceiling(body: str, order: Sequence[BodyItem]) -> Cut:
    """Take items out of `body` until it is within 50 items and 3000 tokens.

    They leave in the order given, but one that alone is too long leaves before all others.
    """
    items, tokens = count_items(body), count_tokens(body)
    gone: list[BodyItem] = []
    for item in sorted(order, key=lambda item: estimate_tokens(item.text) <= STOP_TOKENS):
        if items - len(gone) <= STOP_ITEMS and tokens <= STOP_TOKENS:
            break
        gone.append(item)
        if items - len(gone) <= STOP_ITEMS:  # before that the tokens decide nothing
            tokens = estimate_tokens(strip_sentinel(remove_items(body, gone)))
    return Cut(body=remove_items(body, gone) if gone else body, removed=tuple(item.alone for item in gone))


def relieve(body: str, keep: Callable[[str], bool]) -> Cut:
    """Bring a section that stayed full down to 25 items, as a last way out of the stop.

    Items that others say leave first, then the oldest; `keep` names those that must stay (locked
    ones). The update job calls this after three commits in the stop, never the merge.
    """
    items = list(read_body(strip_sentinel(body)))
    gone: list[BodyItem] = []
    for item in items:
        others = [other.text for other in items if other is not item and other not in gone]
        if not keep(item.text) and is_covered(item.text, others):
            gone.append(item)
    for item in items:
        if len(items) - len(gone) > THRESHOLD_ITEMS and item not in gone and not keep(item.text):
            gone.append(item)
    return Cut(
        body=remove_items(strip_sentinel(body), gone),
        removed=tuple(item.alone for item in items if item in gone),
    )
