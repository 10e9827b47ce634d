"""Vectors of the profile: slots, merging, strength."""

from collections.abc import Callable
from typing import Any

from core.model import FacetClass, FacetOrigin
from core.profile.merging import Claim, Contradiction, Facet, Former, merge
from core.profile.slots import Relation, read_statement, relate
from core.profile.strength import name_state, score_facet
from core.text.statements import StatementKind


def facet_key(given: dict[str, Any]) -> dict[str, Any]:
    reading = read_statement(StatementKind(given["kind"]), given["text"])
    return {"key": reading.slot.key if reading else None, "value": reading.text if reading else None}


def facet_identity(given: dict[str, Any]) -> dict[str, Any]:
    older, newer = (read_statement(StatementKind(given[side]["kind"]), given[side]["text"]) for side in ("a", "b"))
    relation = relate(older, newer) if older and newer else Relation.COEXISTS
    return {"same_slot": relation is not Relation.COEXISTS, "relation": str(relation)}


def facet_merge(given: dict[str, Any]) -> dict[str, Any]:
    old, new = given["existing"], given["new"]
    existing = None
    if old is not None:
        origin = FacetOrigin(old["origin"])
        existing = Facet(
            value=old["value"],
            confidence=old["confidence"],
            evidence=old["evidence"],
            segments=tuple(old["segments"]),
            origin=origin,
            state=old["state"],
            history=tuple(
                Former(
                    value=each["value"],
                    confidence=each.get("confidence", old["confidence"]),
                    origin=FacetOrigin(each.get("origin", origin)),
                )
                for each in old.get("history", ())
            ),
            contradictions=tuple(
                Contradiction(value=each["value"], segment=each["segment"]) for each in old.get("contradictions", ())
            ),
        )
    claim = Claim(
        value=new["value"],
        confidence=new["confidence"],
        segment=new["segment"],
        origin=FacetOrigin(new["origin"]),
    )
    outcome, facet = merge(existing, claim, Relation(given["relation"]))
    return {
        "outcome": str(outcome),
        "facet": {
            "value": facet.value,
            "confidence": facet.confidence,
            "evidence": facet.evidence,
            "segments": list(facet.segments),
            "origin": str(facet.origin),
            "state": facet.state,
            "history": [{"value": e.value, "confidence": e.confidence, "origin": str(e.origin)} for e in facet.history],
            "contradictions": [{"value": e.value, "segment": e.segment} for e in facet.contradictions],
        },
    }


def facet_state(given: dict[str, Any]) -> dict[str, Any]:
    if "class" not in given:
        score = given["score"]
        return {"score": score, "state": str(name_state(score))}
    origin = FacetOrigin(given["origin"])
    score = score_facet(FacetClass(given["class"]), origin, evidence=given["evidence"], age_days=given["age_days"])
    return {"score": score, "state": str(name_state(score, origin, given.get("user_state")))}


PROFILE_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "facet_key": facet_key,
    "facet_identity": facet_identity,
    "facet_merge": facet_merge,
    "facet_state": facet_state,
}
