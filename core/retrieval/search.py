"""Searching what was said: words and meaning, fused, with a floor below which nothing is shown.

Functions over one connection. Empty is a good answer: a result has to hold a fair share of what makes the query
special, or to be near in meaning.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.retrieval.fusion import Candidate, fuse
from core.retrieval.lexical import Query, build_search_query, loosen, quote
from core.retrieval.names import drop_common_names
from core.retrieval.vector import load_space
from core.storage import search, vectors
from core.storage.database import Connection
from core.storage.search import Filters

POOL = 100  # candidates of each way of searching
CODES = 200  # whose vectors are compared exactly
LEXICAL_FLOOR = 0.04  # least share of a query's weight that a result holds
YOUNG_STORE = 200  # messages
LARGE_STORE = 2_000  # messages; from here on a search leaves out terms that a tenth of them hold
COMMON_SHARE = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A text to search by meaning, and by whose model."""

    signature: str
    vector: bytes


def prepare_text(c: Connection, text: str) -> str:
    """Return what of a question is embedded."""
    return drop_common_names(text, search.count_rows(c), lambda names: search.count_terms(c, names))


def find_messages(
    c: Connection, text: str, asked: Asked | None, filters: Filters, *, limit: int
) -> tuple[Candidate, ...]:
    """Return the messages that answer a text typed by the user, best first; () when nothing is near enough.

    `asked` is the text's vector (of `prepare_text`), None where there is no model: words alone are searched.
    """
    query = build_search_query(text, lambda terms: search.count_terms(c, terms))
    if query.keywords:
        exact = _share_weight(c, query, search.find_words(c, query.match_all, filters, limit=limit))
        if exact:
            return fuse(exact, {})
    words, meaning = find_by_words(c, query, filters), find_by_meaning(c, asked, filters)
    if query and not words and not meaning:
        words = find_by_words(c, loosen(query), filters)
    return fuse(words, meaning)[:limit]


def find_by_words(c: Connection, query: Query, filters: Filters, *, floor: float = LEXICAL_FLOOR) -> dict[int, float]:
    """Return messages with any of the terms and the share of the query's weight they hold, best first."""
    query = _drop_common(c, query)
    found = _share_weight(c, query, search.find_words(c, query.match, filters, limit=POOL))
    return {row: share for row, share in found.items() if share >= floor}


def find_by_meaning(c: Connection, asked: Asked | None, filters: Filters) -> Mapping[int, float]:
    """Return messages and their cosines around the model's mean, best first; {} without a searchable model."""
    model = vectors.get_searchable(c)
    if model is None or asked is None or model.name != asked.signature:
        return {}
    space = load_space(model.name, len(asked.vector) // 4)
    items = search.find_codes(c, model.id, space.encode(asked.vector), filters, limit=CODES)
    near = search.compare(c, model.id, items, centred=space.centre(asked.vector), mean=space.mean)
    return {found.id: found.score for found in near[:POOL] if found.score >= space.floor}


def _drop_common(c: Connection, query: Query) -> Query:
    """Return a query without the terms that a good part of a large store holds: they weigh little and cost the most."""
    rows = search.count_rows(c)
    if rows < LARGE_STORE:
        return query
    counts = search.count_terms(c, query.terms)
    rare = tuple(term for term in query.terms if counts[term] <= COMMON_SHARE * rows)
    if not any(counts[term] for term in rare):
        return query
    return replace(query, terms=rare, match=" OR ".join(map(quote, rare)))


def _share_weight(c: Connection, query: Query, found: tuple[search.Found, ...]) -> dict[int, float]:
    """How much of what the query's terms weigh together each row holds, best first; terms that occur nowhere count."""
    if not found:
        return {}
    rows = search.count_rows(c)
    if rows < YOUNG_STORE:
        return _share_terms(c, query, found, rows)
    weights = search.weigh_terms(search.count_terms(c, query.terms), rows)
    whole = sum(weights.values())
    return {row.id: row.score / whole for row in found}


def _share_terms(c: Connection, query: Query, found: tuple[search.Found, ...], rows: int) -> dict[int, float]:
    """The same in a store of few rows, where BM25 gives no weight to what half of them hold."""
    held = {term: search.find_columns(c, quote(term), limit=YOUNG_STORE) for term in query.terms}
    weights = {term: math.log(1 + rows / (len(columns) + 0.5)) for term, columns in held.items()}
    whole = sum(weights.values())
    shares = {
        row.id: sum(weight * held[term].get(row.id, 0.0) for term, weight in weights.items()) / whole for row in found
    }
    return dict(sorted(shares.items(), key=lambda entry: -entry[1]))
