"""Where each line of the document comes from, and how a version differs from the one before.

Pure. Lines are matched by their key (core.text.normal_form), so that case, tags and emphasis do
not make a line new.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.model import LineState, MemoryLine, Origin, ParkedLine, Section, TurnId
from core.text.items import read_items
from core.text.keys import is_duplicate, item_key, read_key
from core.working_memory.document import Document
from core.working_memory.marks import CARRIED, RESTORED, has_tag, strip_tag
from core.working_memory.parked_index import ParkedIndex, index_parked

LineKey = tuple[Section, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What is known of a line beside its text."""

    origin: Origin
    turns: tuple[TurnId, ...] = ()
    locked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A line that an update brought, with its evidence."""

    section: Section
    text: str
    origin: Origin
    turns: tuple[TurnId, ...] = ()


class _Offers:
    """Proposals, found by what they say: a line is compared only with those that can be the same."""

    def __init__(self, proposals: Iterable[Proposal]) -> None:
        self._proposals = tuple(proposals)
        self._places: dict[str | tuple[str, ...], list[int]] = {}
        self._openings: list[int] = []  # those that end in a colon: a line may begin with one
        for place, proposal in enumerate(self._proposals):
            key = read_key(proposal.text)
            self._places.setdefault(key.text, []).append(place)
            self._places.setdefault(key.words, []).append(place)
            if key.ends_in_colon:
                self._openings.append(place)

    def find(self, text: str) -> list[Proposal]:
        """Return the proposals that say nothing else than a line, in order."""
        key = read_key(text)
        places = {*self._openings}
        for name in (key.text, key.words, key.first_line):
            if name:
                places.update(self._places.get(name, ()))
        found = [self._proposals[place] for place in sorted(places)]
        return [proposal for proposal in found if is_duplicate(proposal.text, text)]


def key_of(section: Section, text: str) -> LineKey:
    """Return what identifies a line through versions."""
    return section, item_key(text)


class Known(Protocol):
    """What is known of lines beside their texts; a dict will do."""

    def get(self, key: LineKey, /) -> Meta | None:
        """Return what is known of a line."""


class KnownLines:
    """What is known of the lines of a version and of those that wait beside it; removed and pending ones not.

    A line that waited keeps its evidence when it enters later. To be asked before a later state of these lists is
    indexed.
    """

    def __init__(
        self, lines: Mapping[Section, Sequence[MemoryLine]], parked: Mapping[Section, tuple[ParkedLine, ...]]
    ) -> None:
        self._parked = parked
        self._indexes: dict[Section, ParkedIndex] = {}
        self._standing = {
            key_of(section, line.text): Meta(origin=line.origin, turns=line.turns, locked=line.locked)
            for section, found in lines.items()
            for line in found
            if line.state not in (LineState.REMOVED, LineState.PENDING)
        }

    def get(self, key: LineKey, /) -> Meta | None:
        """Return what is known of a line."""
        section, text = key
        if key in self._standing or not self._parked.get(section):
            return self._standing.get(key)
        if section not in self._indexes:
            self._indexes[section] = index_parked(self._parked[section])
        line = self._indexes[section].find(text)
        return None if line is None or line.origin is None else Meta(origin=line.origin, turns=line.turns)


def annotate(
    document: Document,
    previous: Known,
    proposals: Iterable[Proposal] = (),
    *,
    default: Origin = Origin.MODEL,
) -> dict[Section, tuple[MemoryLine, ...]]:
    """Return the lines of every section; `previous` knows the version before, parked lines included.

    Evidence is kept through rewordings of case, tags and emphasis, and grows when a line is
    proposed again. A line that nobody proposed has the origin `default`.
    """
    offered: dict[Section, list[Proposal]] = {section: [] for section in Section}
    for proposal in proposals:
        offered[proposal.section].append(proposal)
    offers = {section: _Offers(proposals) for section, proposals in offered.items()}
    return {
        section: tuple(
            _annotate_line(section, item.text, previous, offers[section], default) for item in read_items(body)
        )
        for section, body in document.bodies.items()
    }


def _annotate_line(
    section: Section,
    text: str,
    previous: Known,
    offers: _Offers,
    default: Origin,
) -> MemoryLine:
    before = previous.get(key_of(section, text))
    turns, origin = _find_evidence(text, before, offers)
    tagged = has_tag(text, RESTORED) or has_tag(text, CARRIED)
    state = LineState.ADDED if before is None else LineState.KEPT
    if tagged:
        state = LineState.KEPT if before and before.origin is Origin.RESTORED else LineState.RESTORED
    return MemoryLine(
        text=strip_tag(text, RESTORED, CARRIED),
        origin=Origin.RESTORED if tagged else origin or default,
        state=state,
        turns=turns,
        locked=before.locked if before else False,
    )


def _find_evidence(text: str, before: Meta | None, offers: _Offers) -> tuple[tuple[TurnId, ...], Origin | None]:
    """The turns behind a line, ascending, and its origin where somebody is known to have written it."""
    turns = set(before.turns) if before else set()
    origin: Origin | None = before.origin if before and before.origin is not Origin.RESTORED else None
    for proposal in offers.find(text):
        turns |= set(proposal.turns)
        origin = origin or proposal.origin
    return tuple(sorted(turns)), origin


def annotate_parked(
    section: Section,
    parked: Iterable[ParkedLine],
    previous: Known,
    proposals: Iterable[Proposal] = (),
    *,
    at: float | None = None,
) -> tuple[ParkedLine, ...]:
    """Return a section's parked lines with turns, origin and date, where those are known.

    `at` (s) is since when the lines wait that are new in the list.
    """
    lines = tuple(parked)
    if all(line.turns and line.at is not None for line in lines):
        return lines
    offers = _Offers(proposal for proposal in proposals if proposal.section is section)
    return tuple(
        [
            line if line.turns and line.at is not None else _annotate_parked(section, line, previous, offers, at)
            for line in lines
        ]
    )


def _annotate_parked(
    section: Section, line: ParkedLine, previous: Known, offers: "_Offers", at: float | None
) -> ParkedLine:
    turns, origin = _find_evidence(line.text, previous.get(key_of(section, line.text)), offers)
    found = (line.turns or turns, line.origin or origin, at if line.at is None else line.at)
    if found == (line.turns, line.origin, line.at):
        return line  # itself, so that what is known of it holds on
    return replace(line, turns=found[0], origin=found[1], at=found[2])


def compare(before: Sequence[MemoryLine], after: Sequence[MemoryLine]) -> tuple[MemoryLine, ...]:
    """Return one section's lines in reading order, each with how it stands against `before`.

    A removed line stands where it was: after the line that was above it and is still there.
    """
    old = [line for line in before if line.state not in (LineState.REMOVED, LineState.PENDING)]
    old_keys = {item_key(line.text): line for line in old}
    new_keys = {item_key(line.text) for line in after}
    result: list[MemoryLine] = []
    removed = _group_removed(old, new_keys)
    result += removed.get("", [])
    for line in after:
        key = item_key(line.text)
        result.append(replace(line, state=_state_against(old_keys.get(key), line)))
        result += removed.pop(key, []) if key else []
    return tuple(result)


def _group_removed(old: Sequence[MemoryLine], new_keys: set[str]) -> dict[str, list[MemoryLine]]:
    """Removed lines by the key of the nearest line above them that stays; "" for the section's top."""
    groups: dict[str, list[MemoryLine]] = {}
    above = ""
    for line in old:
        key = item_key(line.text)
        if key in new_keys:
            above = key
        else:
            groups.setdefault(above, []).append(replace(line, state=LineState.REMOVED))
    return groups


def _state_against(old: MemoryLine | None, new: MemoryLine) -> LineState:
    was_restored = old is not None and old.origin is Origin.RESTORED
    if new.origin is Origin.RESTORED and not was_restored:
        return LineState.RESTORED
    return LineState.ADDED if old is None else LineState.KEPT
