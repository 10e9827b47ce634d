"""Vectors: which items have one, of which model; what is missing is a query (archivist.md section 11).

Items (messages, their sentences, recaps, events) come and go with what they were made from, by triggers; their
vectors with them. Several models' vectors stand beside each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.model import SessionId, TurnId
from core.storage.database import Connection

Kind = Literal["message", "sentence", "recap", "event"]

# The text of an item, by kind; what has none is skipped.
_TEXT = """CASE i.kind
  WHEN 'message' THEN (SELECT content FROM episodic WHERE id = CAST(i.ref AS INTEGER))
  WHEN 'sentence' THEN (SELECT substr(content, i.start + 1, i.length) FROM episodic WHERE id = CAST(i.ref AS INTEGER))
  WHEN 'recap' THEN (SELECT summary FROM segments WHERE segment_id = i.ref)
  WHEN 'event' THEN (SELECT text FROM events WHERE event_id = i.ref)
END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A model whose vectors are stored."""

    id: int
    name: str
    complete: bool  # every item had a vector once: it can be searched by


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """An item without a vector of a model."""

    item: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A vector to store: float32 little endian, and its code."""

    item: int
    vector: bytes
    code: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapFound:
    """A closed segment's recap and its cosine; `ended_at` in s: of its evidence, not of the recap."""

    segment_id: str
    session_id: SessionId
    title: str  # of its conversation
    first_turn: TurnId
    last_turn: TurnId | None
    ended_at: float
    text: str
    cosine: float


def add_signature(c: Connection, name: str, dimension: int) -> int:
    """Register an embedding model; returns its number."""
    known = c.execute("SELECT id FROM signatures WHERE signature = ?", (name,)).fetchone()
    if known is not None:
        return int(known[0])
    c.execute("INSERT INTO signatures(signature, dimension) VALUES (?, ?)", (name, dimension))
    return c.last_insert_rowid()


def get_searchable(c: Connection) -> Signature | None:
    """Return the newest model that had a vector for every item once; None: search goes by words alone."""
    row = c.execute("SELECT id, signature FROM signatures WHERE complete ORDER BY id DESC LIMIT 1").fetchone()
    return Signature(id=row[0], name=row[1], complete=True) if row else None


def find_items(c: Connection, kind: Kind, refs: Sequence[int | str]) -> dict[str, int]:
    """Return items of a kind by what they were made from."""
    marks = ",".join("?" * len(refs))
    rows = c.execute(
        f"SELECT ref, id FROM vector_items WHERE kind = ? AND part = 0 AND ref IN ({marks})", (kind, *map(str, refs))
    )
    return dict(rows)


def put(c: Connection, signature: int, entries: Sequence[Entry]) -> None:
    """Store vectors, replacing older ones; of items that went meanwhile nothing is kept."""
    alive = "SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM vector_items WHERE id = ?)"
    c.executemany(
        f"INSERT OR REPLACE INTO vector_codes(signature, item, code) {alive}",
        [(signature, e.item, e.code, e.item) for e in entries],
    )
    c.executemany(
        f"INSERT OR REPLACE INTO vectors(signature, item, vector) {alive}",
        [(signature, e.item, e.vector, e.item) for e in entries],
    )


def load_user_vectors(
    c: Connection, session_id: SessionId, model: str, *, before: TurnId, limit: int
) -> tuple[tuple[TurnId, str, bytes], ...]:
    """Return (turn, text, vector) of a conversation's newest user messages before a turn, oldest first."""
    rows = c.execute(
        "SELECT e.turn, e.content, v.vector FROM episodic e"
        " JOIN vector_items i ON i.kind = 'message' AND i.ref = CAST(e.id AS TEXT) AND i.part = 0"
        " JOIN vectors v ON v.item = i.id AND v.signature = (SELECT id FROM signatures WHERE signature = ?)"
        " WHERE e.session_id = ? AND e.turn < ? AND e.role = 'user' ORDER BY e.turn DESC LIMIT ?",
        (model, session_id, before, limit),
    )
    return tuple(reversed([(TurnId(turn), str(text), bytes(vector)) for turn, text, vector in rows]))


def load_said_vectors(
    c: Connection, session_id: SessionId, signature: int, *, first: TurnId, last: TurnId
) -> dict[str, bytes]:
    """Return the vectors of what the user said from one turn to another, messages and their sentences, by text."""
    rows = c.execute(
        "SELECT CASE i.kind WHEN 'message' THEN e.content ELSE substr(e.content, i.start + 1, i.length) END, v.vector"
        " FROM episodic e JOIN vector_items i ON i.kind IN ('message', 'sentence') AND i.ref = CAST(e.id AS TEXT)"
        " JOIN vectors v ON v.item = i.id AND v.signature = ?"
        " WHERE e.session_id = ? AND e.turn BETWEEN ? AND ? AND e.role = 'user'",
        (signature, session_id, first, last),
    )
    return {" ".join(str(text).split()): bytes(vector) for text, vector in rows}


def load_missing(c: Connection, signature: int, *, limit: int, after: int = 0) -> tuple[Missing, ...]:
    """Return items behind `after` without this model's vector, oldest first; blank texts never have one."""
    rows = c.execute(
        f"SELECT i.id, {_TEXT} AS text FROM vector_items i WHERE i.id > ?"
        " AND NOT EXISTS (SELECT 1 FROM vector_codes v WHERE v.item = i.id AND v.signature = ?)"
        " AND trim(coalesce(text, '')) <> '' ORDER BY i.id LIMIT ?",
        (after, signature, limit),
    )
    return tuple(Missing(item=item, text=text) for item, text in rows)


def count_missing(c: Connection, signature: int) -> int:
    """Return how many items wait for this model's vector."""
    (count,) = c.execute(
        "SELECT count(*) FROM vector_items i"
        " WHERE NOT EXISTS (SELECT 1 FROM vector_codes v WHERE v.item = i.id AND v.signature = ?)",
        (signature,),
    ).fetchone() or (0,)
    return int(count)


def complete_if_filled(c: Connection, signature: int) -> None:
    """Mark a model as complete once no message or recap lacks its vector; it stays so."""
    c.execute(
        "UPDATE signatures SET complete = 1 WHERE id = ? AND NOT complete AND NOT EXISTS ("
        f"  SELECT 1 FROM vector_items i WHERE i.kind IN ('message', 'recap') AND trim(coalesce({_TEXT}, '')) <> ''"
        "   AND NOT EXISTS (SELECT 1 FROM vector_codes v WHERE v.item = i.id AND v.signature = signatures.id))",
        (signature,),
    )


def drop_others(c: Connection, name: str) -> None:
    """Drop the vectors of all other models once this one's are complete."""
    c.execute(
        "DELETE FROM signatures WHERE id <> (SELECT id FROM signatures WHERE signature = ? AND complete)", (name,)
    )


def find_waiting_conversation(c: Connection) -> SessionId | None:
    """Return the conversation of the oldest item without a vector of the newest model, or not split into sentences."""
    row = c.execute(
        "SELECT session_id FROM vector_items i WHERE ((i.kind = 'message' AND NOT i.split)"
        " OR NOT EXISTS (SELECT 1 FROM vector_codes v WHERE v.item = i.id"
        "   AND v.signature = (SELECT max(id) FROM signatures)))"
        f" AND trim(coalesce({_TEXT}, '')) <> '' ORDER BY i.id LIMIT 1"
    ).fetchone()
    return SessionId(row[0]) if row else None


def load_unsplit(c: Connection, *, limit: int) -> tuple[tuple[int, int, SessionId, str], ...]:
    """Return (item, message, conversation, text) of messages whose sentences are no items yet, oldest first."""
    rows = c.execute(
        "SELECT i.id, e.id, e.session_id, e.content FROM vector_items i"
        " JOIN episodic e ON e.id = CAST(i.ref AS INTEGER)"
        " WHERE i.kind = 'message' AND NOT i.split ORDER BY i.id LIMIT ?",
        (limit,),
    )
    return tuple((item, message, SessionId(session), text) for item, message, session, text in rows)


def add_sentences(
    c: Connection, item: int, message: int, session_id: SessionId, spans: Sequence[tuple[int, int]]
) -> None:
    """Make items of a message's sentences, given as (start, length) in characters."""
    if not c.execute("UPDATE vector_items SET split = 1 WHERE id = ? AND NOT split RETURNING 1", (item,)).fetchall():
        return  # the message changed or went, or another process was first
    c.executemany(
        "INSERT INTO vector_items(kind, ref, part, start, length, session_id) VALUES ('sentence', ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(str(message), part, start, length, session_id) for part, (start, length) in enumerate(spans, 1)],
    )


def compare_recaps(
    c: Connection, signature: int, *, centred: bytes, mean: bytes, not_session_id: SessionId, since: float
) -> tuple[RecapFound, ...]:
    """Return the recaps of other conversations whose evidence is not older than `since`, by cosine, best first."""
    rows = c.execute(
        "SELECT s.segment_id, s.session_id, t.title, s.first_turn, s.last_turn, coalesce(s.end_ts, s.last_user_ts),"
        " s.summary, 1 - vec_distance_cosine(vec_sub(v.vector, ?), ?) AS cosine FROM segments s"
        " JOIN conversations t ON t.session_id = s.session_id AND t.deleted_at IS NULL"
        " JOIN vector_items i ON i.kind = 'recap' AND i.ref = s.segment_id"
        " JOIN vectors v ON v.item = i.id AND v.signature = ?"
        " WHERE s.session_id <> ? AND coalesce(s.end_ts, s.last_user_ts) >= ? ORDER BY cosine DESC",
        (mean, centred, signature, not_session_id, since),
    )
    return tuple(
        RecapFound(
            segment_id=segment,
            session_id=SessionId(session),
            title=title,
            first_turn=TurnId(first),
            last_turn=TurnId(last) if last is not None else None,
            ended_at=ended_at,
            text=text,
            cosine=cosine,
        )
        for segment, session, title, first, last, ended_at, text, cosine in rows
    )
