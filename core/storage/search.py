"""Finding indexed messages: by words in FTS5, by meaning among the vectors. Filters are inside the query.

Expressions for FTS5 come quoted (`core.retrieval.lexical`). Hidden conversations are never found.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from core.model import Role, SessionId, TurnId
from core.storage.database import Connection

# content, cjk, prev, next, lesson (archivist.md section 2)
WEIGHTS = (1.0, 1.0, 0.5, 0.2, 0.5)
SENTENCE_SHARE = 0.85  # of a sentence's cosine counts for its message: short texts lie near to anything
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # as `episodic_fts` was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which messages may be found; None: any. `since` in s."""

    session_id: SessionId | None = None
    not_session_id: SessionId | None = None
    role: Role | None = None
    since: float | None = None

    def conditions(self, table: str) -> tuple[str, list[object]]:
        """Return the conditions on an `episodic` row as SQL, each beginning with AND, and their values."""
        sql, values = "", list[object]()
        for column, value in (
            ("session_id = ?", self.session_id),
            ("session_id <> ?", self.not_session_id),
            ("role = ?", self.role.value if self.role else None),
            ("ts >= ?", self.since),
        ):
            if value is not None:
                sql += f" AND {table}.{column}"
                values.append(value)
        return sql, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An indexed message and its score, higher is better."""

    id: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An indexed message as it is shown; `ts` in s."""

    id: int
    turn: TurnId
    session_id: SessionId
    role: Role
    ts: float
    content: str
    title: str  # of its conversation


def find_words(c: Connection, match: str, filters: Filters, *, limit: int) -> tuple[Found, ...]:
    """Return the best rows by BM25."""
    if not match:
        return ()
    where, values = filters.conditions("e")
    if _has_hidden(c):
        where += " AND e.session_id NOT IN (SELECT session_id FROM conversations WHERE deleted_at IS NOT NULL)"
    join = "JOIN episodic e ON e.id = f.rowid" if where else ""
    rows = c.execute(
        f"SELECT f.rowid, bm25(episodic_fts, ?, ?, ?, ?, ?) AS score FROM episodic_fts f {join}"
        f" WHERE episodic_fts MATCH ?{where} ORDER BY score LIMIT ?",
        (*WEIGHTS, match, *values, limit),
    )
    return tuple(Found(id=i, score=-score) for i, score in rows)


def find_columns(c: Connection, quoted_term: str, *, limit: int = 1_000) -> dict[int, float]:
    """Return the rows that hold a quoted term and the weight of the best column it stands in."""
    best: dict[int, float] = {}
    for columns, weight in (("next", WEIGHTS[3]), ("prev lesson", WEIGHTS[2]), ("content cjk", WEIGHTS[0])):
        rows = c.execute(
            "SELECT rowid FROM episodic_fts WHERE episodic_fts MATCH ? LIMIT ?",
            (f"{{{columns}}} : {quoted_term}", limit),
        )
        best.update((row, weight) for (row,) in rows)
    return best


def count_rows(c: Connection) -> int:
    """Return how many messages the index holds."""
    (count,) = c.execute("SELECT count(*) FROM episodic").fetchone() or (0,)
    return int(count)


def count_terms(c: Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many rows each term occurs, neighbours' columns included; a term of several words: the rarest."""
    tokenizer = c.fts5_tokenizer(*_TOKENIZER)
    counts: dict[str, int] = {}
    for term in terms:
        stems = tokenizer(term.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        words = [str(stem[0]) for stem in stems if isinstance(stem, tuple)]
        counts[term] = min((_count_word(c, word) for word in words), default=0)
    return counts


def weigh_terms(counts: Mapping[str, int], rows: int) -> dict[str, float]:
    """Return the weight BM25 gives each term: the rarer, the more; what occurs nowhere weighs most."""
    return {term: max(1e-6, math.log((rows - n + 0.5) / (n + 0.5))) if rows else 1.0 for term, n in counts.items()}


def load_messages(c: Connection, ids: Sequence[int]) -> tuple[Message, ...]:
    """Return indexed messages in the order of `ids`."""
    rows = c.execute(
        "SELECT e.id, e.turn, e.session_id, e.role, e.ts, e.content, v.title FROM json_each(?) j"
        " JOIN episodic e ON e.id = j.value JOIN conversations v ON v.session_id = e.session_id ORDER BY j.key",
        (json.dumps(list(ids)),),
    )
    return tuple(
        Message(
            id=i, turn=TurnId(turn), session_id=SessionId(session), role=Role(role), ts=ts, content=content, title=title
        )
        for i, turn, session, role, ts, content, title in rows
    )


def find_codes(c: Connection, signature: int, code: bytes, filters: Filters, *, limit: int) -> tuple[int, ...]:
    """Return the message and sentence items whose codes differ least."""
    where, values = _restrict_items(c, filters)
    rows = c.execute(
        "SELECT item FROM vector_codes v"
        f" WHERE signature = ?{where} ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(?)) LIMIT ?",
        (signature, *values, code, limit),
    )
    return tuple(item for (item,) in rows)


def compare(c: Connection, signature: int, items: Sequence[int], *, centred: bytes, mean: bytes) -> tuple[Found, ...]:
    """Return messages by the cosine around the model's mean of the best of their items, best first."""
    rows = c.execute(
        "SELECT CAST(i.ref AS INTEGER), max((1 - vec_distance_cosine(vec_sub(v.vector, ?), ?))"
        f" * CASE i.kind WHEN 'sentence' THEN {SENTENCE_SHARE} ELSE 1 END) AS score"
        " FROM json_each(?) j CROSS JOIN vectors v ON v.item = j.value AND v.signature = ?"
        " CROSS JOIN vector_items i ON i.id = v.item WHERE i.kind IN ('message', 'sentence') GROUP BY i.ref"
        " ORDER BY score DESC",
        (mean, centred, json.dumps(list(items)), signature),
    )
    return tuple(Found(id=i, score=score) for i, score in rows)


def _restrict_items(c: Connection, filters: Filters) -> tuple[str, list[object]]:
    """The filters as a condition on `vector_codes v`; recaps and events are no messages."""
    where, values = filters.conditions("e")
    if _has_hidden(c):
        where += " AND e.session_id NOT IN (SELECT session_id FROM conversations WHERE deleted_at IS NOT NULL)"
    if not where:
        return "", []
    chosen = (
        "SELECT i.id FROM episodic e JOIN vector_items i ON i.ref = CAST(e.id AS TEXT)"
        f" AND i.kind IN ('message', 'sentence') WHERE TRUE{where}"
    )
    return f" AND v.item IN ({chosen})", values


def _has_hidden(c: Connection) -> bool:
    return c.execute("SELECT 1 FROM conversations WHERE deleted_at IS NOT NULL LIMIT 1").fetchone() is not None


def _count_word(c: Connection, word: str) -> int:
    row = c.execute("SELECT doc FROM episodic_words WHERE term = ?", (word,)).fetchone()
    return int(row[0]) if row else 0
