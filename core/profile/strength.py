"""How strong a facet is, what that is called, and which facets go into a prompt.

Pure. Strength = weight x ln(1 + evidence) x 2^(-age / half-life); numbers are those of archivist.md section 8.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from core.model import FacetClass, FacetOrigin, FacetState
from core.profile.comparing import split_words
from core.profile.merging import FORGOTTEN
from core.profile.slot_rules import load_alternatives, load_slot_languages
from core.profile.slots import Reading
from core.text.clauses import fold
from core.text.statements import StatementKind

PINNED = "pinned"
WEIGHT_STATED, WEIGHT_INFERRED = 2.0, 0.7


HALF_LIFE_DAYS = {FacetClass.TOOLING: 30.0, FacetClass.GOAL: 30.0, FacetClass.STYLE: 14.0, FacetClass.CHANNEL: 7.0}
IN_PROMPT = {
    FacetClass.STYLE: 4,
    FacetClass.IDENTITY: 6,
    FacetClass.TOOLING: 5,
    FacetClass.VETO: 5,
    FacetClass.GOAL: 3,
    FacetClass.CHANNEL: 1,
}
_STATES = ((1.5, FacetState.ACTIVE), (0.7, FacetState.PROVISIONAL), (0.4, FacetState.CANDIDATE))


class Ranked(Protocol):
    """What can be chosen for a prompt."""

    @property
    def facet_class(self) -> FacetClass: ...
    @property
    def score(self) -> float: ...
    @property
    def state(self) -> FacetState: ...


T = TypeVar("T", bound=Ranked)


def score_facet(kind: FacetClass, origin: FacetOrigin, *, evidence: int, age_days: float) -> float:
    """Return the strength; `age_days` since the last evidence, never below 0."""
    weight = WEIGHT_INFERRED if origin is FacetOrigin.INFERRED else WEIGHT_STATED
    half_life = HALF_LIFE_DAYS.get(kind)
    decay = 1.0 if half_life is None else 2.0 ** (-max(0.0, age_days) / half_life)
    return weight * math.log(1 + max(0, evidence)) * decay


def name_state(score: float, origin: FacetOrigin | None = None, user_state: str | None = None) -> FacetState:
    """Return what a strength is called; the user's word beats it."""
    if user_state == FORGOTTEN:
        return FacetState.DROPPED
    if user_state == PINNED or origin in (FacetOrigin.EXPLICIT, FacetOrigin.USER):
        return FacetState.ACTIVE
    return next((state for least, state in _STATES if score >= least), FacetState.DROPPED)


def classify(reading: Reading) -> FacetClass:
    """Return the class of a statement."""
    if reading.kind is StatementKind.FACT:
        return FacetClass.IDENTITY
    folded = fold(reading.text)
    languages = load_slot_languages().values()
    if reading.negative and any(language.app.search(folded) for language in languages):
        return FacetClass.VETO
    words = frozenset(split_words(reading.text))
    known = load_alternatives()
    if words & known.tooling or any(word in reading.text for word in known.tooling if word > "\u3400"):
        return FacetClass.TOOLING
    if words & known.channel or any(word in reading.text for word in known.channel if word > "\u3400"):
        return FacetClass.CHANNEL
    if any(language.goals.search(folded) for language in languages):
        return FacetClass.GOAL
    return FacetClass.STYLE


def select_for_prompt(facets: Iterable[T]) -> tuple[T, ...]:
    """Return the facets a prompt shows: active before provisional, the strongest first, at most so many a class."""
    wanted = (FacetState.ACTIVE, FacetState.PROVISIONAL)
    given: Sequence[T] = sorted(
        (facet for facet in facets if facet.state in wanted),
        key=lambda facet: (wanted.index(facet.state), -facet.score),
    )
    chosen = [[facet for facet in given if facet.facet_class is kind][: IN_PROMPT[kind]] for kind in FacetClass]
    return tuple(facet for group in chosen for facet in group)
