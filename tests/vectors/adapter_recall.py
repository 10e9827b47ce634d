"""The mechanisms of recall, joined to the vectors."""

from typing import Any

from core.model import SessionId
from core.retrieval.lexical import build_recall_query
from core.retrieval.recall import Limits, RecapOffer, TurnOffer, select

LIMITS = {
    "max_age_days": "max_age_days",
    "gate": "gate",
    "max_recaps": "max_recaps",
    "max_turns": "max_turns",
    "budget": "budget_chars",
}


def stm_query(given: dict[str, Any]) -> dict[str, Any]:
    query = build_recall_query(given["message"])
    return {"terms": list(query.terms), "match": query.match}


def stm_select(given: dict[str, Any]) -> dict[str, Any]:
    limits = Limits(**{ours: given[theirs] for theirs, ours in LIMITS.items() if given.get(theirs) is not None})
    turns = [TurnOffer(**{**turn, "session": SessionId(turn["session"])}) for turn in given["turns"]]
    recaps = [RecapOffer(**{**recap, "session": SessionId(recap["session"])}) for recap in given["recaps"]]
    found = select(SessionId(given["current_session"]), turns, recaps, limits)
    return {"picked": [entry.offer.id for entry in found if entry.taken]}


RECALL_ADAPTERS = {"stm_query": stm_query, "stm_select": stm_select}
