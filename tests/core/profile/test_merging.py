"""Merging: evidence only grows by segments, what the user set stays, nothing said before is lost."""

from hypothesis import given
from hypothesis import strategies as st

from core.model import FacetClass, FacetOrigin, FacetState
from core.profile.merging import Claim, Facet, Outcome, merge
from core.profile.slots import Relation
from core.profile.strength import name_state, score_facet

ORIGINS = st.sampled_from(list(FacetOrigin))
CLAIMS = st.builds(
    Claim,
    value=st.sampled_from(["a", "b", "c"]),
    confidence=st.sampled_from([0.4, 0.6, 0.9]),
    segment=st.sampled_from(["seg-1", "seg-12", "seg-2"]),
    origin=ORIGINS,
)


def run(claims: list[Claim]) -> Facet:
    facet: Facet | None = None
    for claim in claims:
        same = facet is not None and facet.value == claim.value
        _, facet = merge(facet, claim, Relation.RESTATES if same else Relation.SUPERSEDES)
    assert facet is not None
    return facet


@given(st.lists(CLAIMS, min_size=1, max_size=8))
def test_evidence_is_the_number_of_distinct_segments(claims: list[Claim]) -> None:
    facet = run(claims)
    assert facet.evidence == len(set(facet.segments)) == len(facet.segments)


@given(st.lists(CLAIMS, min_size=1, max_size=8))
def test_every_value_said_is_there_as_value_history_or_contradiction(claims: list[Claim]) -> None:
    facet = run(claims)
    kept = {facet.value} | {f.value for f in facet.history} | {c.value for c in facet.contradictions}
    outranked = {claim.value for claim in claims} - kept
    assert not outranked or facet.history  # contradictions are settled when a new value wins


@given(st.lists(CLAIMS.filter(lambda claim: claim.origin is not FacetOrigin.USER), max_size=6))
def test_what_the_user_set_is_never_replaced_by_the_program(claims: list[Claim]) -> None:
    own = Claim(value="mine", confidence=1.0, segment="seg-0", origin=FacetOrigin.USER)
    assert run([own, *claims]).value == "mine"


def test_two_contradictions_from_different_segments_ask_the_user() -> None:
    own = Claim(value="I live in Oslo", confidence=1.0, segment="s0", origin=FacetOrigin.USER)
    other = [
        Claim(value="I live in Bergen", confidence=0.6, segment=s, origin=FacetOrigin.STATED)
        for s in ("s1", "s1", "s2")
    ]
    assert not run([own, *other[:2]]).asks
    assert run([own, *other]).asks


def test_only_the_user_lifts_what_is_forgotten() -> None:
    gone = Facet(value="x", confidence=0.6, evidence=1, segments=("s1",), origin=FacetOrigin.STATED, state="forgotten")
    stated = Claim(value="x", confidence=0.6, segment="s2", origin=FacetOrigin.STATED)
    assert merge(gone, stated, Relation.RESTATES)[0] is Outcome.SUPPRESSED
    explicit = Claim(value="x", confidence=0.9, segment="s2", origin=FacetOrigin.EXPLICIT)
    assert merge(gone, explicit, Relation.RESTATES)[0] is Outcome.CREATED


@given(st.floats(0, 4000), st.integers(1, 20), st.sampled_from(list(FacetClass)))
def test_strength_falls_with_age_and_grows_with_evidence(age: float, evidence: int, kind: FacetClass) -> None:
    now = score_facet(kind, FacetOrigin.STATED, evidence=evidence, age_days=0)
    later = score_facet(kind, FacetOrigin.STATED, evidence=evidence, age_days=age)
    more = score_facet(kind, FacetOrigin.STATED, evidence=evidence + 1, age_days=age)
    assert later <= now
    assert more >= later
    assert name_state(later, FacetOrigin.USER) is FacetState.ACTIVE
