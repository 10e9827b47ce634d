"""The profile as it is shown: stored facets with their present strength.

Pure; the time is passed in.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from core.model import (
    FacetClass,
    FacetConflict,
    FacetOrigin,
    FacetSource,
    FacetState,
    FormerValue,
    Place,
    ProfileFacet,
    TurnId,
)
from core.profile.strength import PINNED, name_state, score_facet
from core.storage.facets import Evidence, FacetRow

DAY_S = 86_400.0
NOWHERE: Mapping[TurnId, Place] = MappingProxyType({})
HAND_MADE_EVIDENCE = 1  # what the user wrote counts like something said once


def view_facet(row: FacetRow, places: Mapping[TurnId, Place] = NOWHERE, *, now: float) -> ProfileFacet:
    """Return a stored facet as it is shown, its sources with the places that are given; `now` in s."""
    facet_class, origin = FacetClass(row.facet_class), FacetOrigin(row.origin)
    evidence = len(row.segments) or HAND_MADE_EVIDENCE
    score = score_facet(facet_class, origin, evidence=evidence, age_days=(now - row.last_at) / DAY_S)
    state = name_state(score, origin, PINNED if row.pinned else None)
    return ProfileFacet(
        id=row.id,
        facet_class=facet_class,
        text=row.value,
        origin=origin,
        state=state if row.ended_at is None else FacetState.DROPPED,
        score=score,
        segments=len(row.segments),
        since=row.since,
        last_at=row.last_at,
        ended_at=row.ended_at,
        pinned=row.pinned,
        sources=tuple(_source(each, places) for each in row.evidence),
        history=tuple(
            FormerValue(
                text=former.value,
                since=former.since,
                until=former.until,
                sources=tuple(_source(each, places) for each in row.former_evidence if each.former == former.id),
            )
            for former in row.history
        ),
        conflicts=_newest_of_each_segment(row),
    )


def _newest_of_each_segment(row: FacetRow) -> tuple[FacetConflict, ...]:
    found = {each.segment_id: each for each in row.contradictions}
    return tuple(
        FacetConflict(
            id=each.id,
            text=each.value,
            source=FacetSource(turn=each.turn, session_id=each.session_id, at=each.at),
        )
        for each in found.values()
    )


def _source(each: Evidence, places: Mapping[TurnId, Place]) -> FacetSource:
    return FacetSource(turn=each.turn, session_id=each.session_id, at=each.at, place=places.get(each.turn))


def view_profile(
    rows: Iterable[FacetRow], places: Mapping[TurnId, Place] = NOWHERE, *, now: float
) -> tuple[ProfileFacet, ...]:
    """Return all facets, by class, the strongest first, what ended last."""
    order = list(FacetClass)
    shown = (view_facet(row, places, now=now) for row in rows)
    return tuple(sorted(shown, key=lambda f: (f.ended_at is not None, order.index(f.facet_class), -f.score, f.since)))
