"""Preferences in prompts: which always stand there, and which only where they fit the message.

Pure. What the user asked to be remembered is general, or situational where it names an occasion ("for letters, …").
Pinned ones always stand in the prompt; of the general ones the newest ten do, and the others join the situational
ones (archivist.md section 16).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model import FacetClass, FacetOrigin, ProfileFacet
from core.profile.strength import select_for_prompt
from core.profile.view import view_facet
from core.storage.facets import FacetRow

GENERAL = 10  # newest of them in the prompt
BY_HAND = (FacetOrigin.EXPLICIT, FacetOrigin.USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The words that stand in every prompt, each group oldest first, and the facets that wait for their occasion."""

    preferences: tuple[str, ...] = ()  # pinned, then general
    profile: tuple[str, ...] = ()
    situational: tuple[FacetRow, ...] = ()


def part_facets(
    rows: Sequence[FacetRow], *, now: float, explicit: bool, inferred: bool, per_turn: bool = True
) -> Standing:
    """Return what of the profile stands where; `now` in s.

    `explicit` and `inferred` are the settings `explicit_preferences_enabled` and `enabled`: without them facets of
    that origin stay out. Without `per_turn` nothing can be compared with a message, and all stands in every prompt.
    """
    left_out = ({FacetOrigin.EXPLICIT} if not explicit else set()) | ({FacetOrigin.INFERRED} if not inferred else set())
    shown = {row.id: view_facet(row, now=now) for row in rows if row.ended_at is None}
    by_id = {row.id: row for row in rows if row.id in shown and shown[row.id].origin not in left_out}
    pinned = [shown[key] for key, row in by_id.items() if row.pinned]
    asked = [(shown[key], row) for key, row in by_id.items() if not row.pinned and shown[key].origin in BY_HAND]
    general = _in_order([facet for facet, row in asked if not row.context or not per_turn])
    waiting = [row for _, row in asked if row.context] if per_turn else []
    older, newest = general[:-GENERAL], general[-GENERAL:]
    if per_turn:
        waiting += [by_id[facet.id] for facet in older]
        older = []
    said = {facet.id for facet in (*pinned, *general)} | {row.id for row in waiting}
    rest = select_for_prompt([shown[key] for key in by_id if key not in said] + list(older))
    order = list(FacetClass)  # not by strength: the prompt's beginning must hold while nothing changes
    return Standing(
        preferences=tuple(facet.text for facet in (*_in_order(pinned), *newest)),
        profile=tuple(f.text for f in sorted(rest, key=lambda f: (order.index(f.facet_class), f.since, f.id))),
        situational=tuple(sorted(waiting, key=lambda row: (row.since, row.id))),
    )


def _in_order(facets: Sequence[ProfileFacet]) -> list[ProfileFacet]:
    return sorted(facets, key=lambda facet: (facet.since, facet.id))
