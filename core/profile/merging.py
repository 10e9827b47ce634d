"""What a new statement does to a facet: reinforces it, replaces it, contradicts it, or nothing.

Pure. Evidence is the number of distinct segments; what the user edited or pinned is replaced by nobody else
(archivist.md section 8).
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from core.model import FacetOrigin
from core.profile.slots import Relation


class Outcome(StrEnum):
    """What became of a statement."""

    CREATED = "created"
    REINFORCED = "reinforced"
    UNCHANGED = "unchanged"
    SUPERSEDED = "superseded"
    CONTRADICTION = "contradiction"
    SUPPRESSED = "suppressed"


FORGOTTEN = "forgotten"
ACTIVE = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A new statement of a facet's value; `segment` is where it was said."""

    value: str
    confidence: float
    segment: str
    origin: FacetOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """A value that held before."""

    value: str
    confidence: float
    origin: FacetOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A statement that did not win; two from different segments are put to the user."""

    value: str
    segment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A facet as far as merging goes."""

    value: str
    confidence: float
    evidence: int
    segments: tuple[str, ...]
    origin: FacetOrigin
    state: str = ACTIVE
    history: tuple[Former, ...] = ()  # newest first
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether the user is to decide: contradictions from two different segments."""
        return len({each.segment for each in self.contradictions}) > 1


def merge(existing: Facet | None, new: Claim, relation: Relation) -> tuple[Outcome, Facet]:
    """Return what a statement about a facet's slot does to it."""
    if existing is None:
        return Outcome.CREATED, _fresh(new)
    if existing.state == FORGOTTEN:
        if new.origin.rank >= FacetOrigin.EXPLICIT.rank:
            return Outcome.CREATED, _fresh(new)
        return Outcome.SUPPRESSED, existing
    return _restate(existing, new) if relation is Relation.RESTATES else _supersede(existing, new)


def _fresh(new: Claim) -> Facet:
    return Facet(
        value=new.value, confidence=new.confidence, evidence=1, segments=(new.segment,), origin=new.origin, state=ACTIVE
    )


def _restate(existing: Facet, new: Claim) -> tuple[Outcome, Facet]:
    known = new.segment in existing.segments
    segments = existing.segments if known else (*existing.segments, new.segment)
    stronger = new.origin.rank > existing.origin.rank or (
        new.origin is existing.origin and new.confidence > existing.confidence
    )
    return (
        Outcome.UNCHANGED if known else Outcome.REINFORCED,
        replace(
            existing,
            value=new.value if stronger else existing.value,
            confidence=max(existing.confidence, new.confidence),
            evidence=existing.evidence + (not known),
            segments=segments,
            origin=max(existing.origin, new.origin, key=lambda origin: origin.rank),
        ),
    )


def _supersede(existing: Facet, new: Claim) -> tuple[Outcome, Facet]:
    if not outranks(existing, new):
        added = Contradiction(value=new.value, segment=new.segment)
        if added in existing.contradictions:
            return Outcome.CONTRADICTION, existing
        return Outcome.CONTRADICTION, replace(existing, contradictions=(*existing.contradictions, added))
    former = Former(value=existing.value, confidence=existing.confidence, origin=existing.origin)
    return Outcome.SUPERSEDED, replace(_fresh(new), history=(former, *existing.history))


def outranks(existing: Facet, new: Claim) -> bool:
    """Whether a statement that says something else takes the place of what is there."""
    if new.origin.rank != existing.origin.rank:
        return new.origin.rank > existing.origin.rank
    return new.confidence >= existing.confidence
