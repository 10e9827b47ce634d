"""Searching what was said: words and meaning, fused, with a floor below which nothing is shown.

Functions over one connection. Empty is a good answer: a result has to hold a fair share of what makes the query
special, or to be near in meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.retrieval.fusion import Candidate, fuse
from core.retrieval.lexical import Query, build_recall_query, build_search_query
from core.retrieval.vector import load_space
from core.storage import search, vectors
from core.storage.database import Connection
from core.storage.search import Filters

POOL = 100  # candidates of each way of searching
CODES = 200  # whose vectors are compared exactly
# Least share of a query's weight (BM25 over the weights of its terms) that a result holds, as measured on LoCoMo
LEXICAL_FLOOR = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is searched for: a text, and its vector where there is a model."""

    text: str
    signature: str = ""
    vector: bytes | None = None


def find_messages(c: Connection, asked: Asked, filters: Filters, *, limit: int) -> tuple[Candidate, ...]:
    """Return the messages that answer a text typed by the user, best first; () when nothing is near enough."""
    query = build_search_query(asked.text, lambda terms: search.count_terms(c, terms))
    if query.keywords:
        exact = search.find_words(c, query.match_all, filters, limit=limit)
        if exact:
            return fuse({found.id: found.score for found in exact}, {}, weight=1.0)
    lexical = find_by_words(c, query, filters)
    cosines = find_by_meaning(c, asked, filters)
    return fuse(lexical, cosines)[:limit]


def find_by_words(c: Connection, query: Query, filters: Filters, *, floor: float = LEXICAL_FLOOR) -> dict[int, float]:
    """Return messages with any of the terms and the share of the query's weight they hold, best first."""
    found = search.find_words(c, query.match, filters, limit=POOL)
    if not found:
        return {}
    weights = search.weigh_terms(search.count_terms(c, query.terms), search.count_rows(c))
    whole = sum(weights.values())
    return {row.id: row.score / whole for row in found if row.score >= floor * whole}


def find_by_meaning(c: Connection, asked: Asked, filters: Filters) -> Mapping[int, float]:
    """Return messages and their cosines around the model's mean, best first; {} without a searchable model."""
    model = vectors.get_searchable(c)
    if model is None or asked.vector is None or model.name != asked.signature:
        return {}
    space = load_space(model.name, len(asked.vector) // 4)
    items = search.find_codes(c, model.id, space.encode(asked.vector), filters, limit=CODES)
    near = search.compare(c, model.id, items, centred=space.centre(asked.vector), mean=space.mean)
    return {found.id: found.score for found in near[:POOL] if found.score >= space.floor}


def ask(text: str) -> Query:
    """Return the recall query of a text, for callers without a store."""
    return build_recall_query(text)
