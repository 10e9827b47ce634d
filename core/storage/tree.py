"""The memory tree's rows: chunks of what was said, summary nodes above them, buffers that wait to be sealed."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import Role, SegmentId, SessionId, TurnId
from core.storage import queue
from core.storage.database import Connection, Row

SEAL = "seal"
_CHUNK = """k.chunk_id, k.session_id, k.segment_id, k.first_turn, k.last_turn, k.started_at, k.ended_at, k.tokens,
  k.partial, k.messages_json, k.parent, k.added_at FROM tree_chunks k"""
_NODE = """node_id, level, parent, started_at, ended_at, items, tokens, summary, summary_source, made_at, attempts,
  next_try_at FROM tree_nodes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message inside a chunk; `at` in s."""

    turn: TurnId
    role: Role
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A leaf. Times in s; `added_at` is when it entered its buffer."""

    id: str
    session_id: SessionId
    segment_id: SegmentId
    first_turn: TurnId
    last_turn: TurnId
    started_at: float
    ended_at: float
    tokens: int
    partial: bool
    messages: tuple[StoredMessage, ...]
    parent: str | None = None
    added_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNode:
    """A summary over leaves (level 1) or nodes. Times in s."""

    id: str
    level: int
    parent: str | None
    started_at: float
    ended_at: float
    items: int
    tokens: int
    summary: str
    source: str
    made_at: float
    attempts: int
    next_try_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """What waits on one level; `oldest_at` is when its oldest item came, in s."""

    level: int
    items: int
    tokens: int
    oldest_at: float


def replace_segment(c: Connection, segment_id: SegmentId, chunks: Sequence[StoredChunk]) -> bool:
    """Give a segment these leaves: known ones stay where they are, others go or enter the buffer. True if any did."""
    wanted = {chunk.id for chunk in chunks}
    known = {i for (i,) in c.execute("SELECT chunk_id FROM tree_chunks WHERE segment_id = ?", (segment_id,))}
    # a chunk whose segment was merged or split is the same evidence: it moves along with its place in the tree
    c.executemany("DELETE FROM tree_chunks WHERE chunk_id = ?", [(i,) for i in known - wanted])
    c.executemany(
        "INSERT INTO tree_chunks(chunk_id, session_id, segment_id, place, first_turn, last_turn, started_at, ended_at,"
        " tokens, partial, messages_json, added_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(chunk_id) DO UPDATE SET segment_id = excluded.segment_id, place = excluded.place",
        [
            (
                k.id, k.session_id, segment_id, place, k.first_turn, k.last_turn, k.started_at, k.ended_at,
                k.tokens, k.partial, _write_messages(k.messages), k.added_at,
            )
            for place, k in enumerate(chunks)
        ],
    )  # fmt: skip
    c.executemany("DELETE FROM tree_unlinks WHERE name = ?", [(f"chunks/{i}",) for i in wanted])
    return known != wanted


def forget_turns(c: Connection, turns: Sequence[TurnId], *, at: float) -> int:
    """Remove every leaf that holds one of these turns, and with it the words of the nodes above; returns how many.

    The segments concerned are cut again from what is left of them by their next `tree` step.
    """
    gone = 0
    for turn in turns:
        rows = c.execute("DELETE FROM tree_chunks WHERE first_turn <= ? AND last_turn >= ? RETURNING 1", (turn, turn))
        gone += len(list(rows))
    if gone:
        ask_to_seal(c, at=at)
    return gone


def ask_to_seal(c: Connection, *, at: float) -> None:
    """Queue a look at the buffers and the nodes that must be made again, once."""
    row = c.execute("SELECT session_id FROM conversations ORDER BY deleted_at IS NOT NULL LIMIT 1").fetchone()
    if row is not None:  # jobs hang on a conversation; without one there is no leaf either
        queue.add_job(c, SEAL, SessionId(row[0]), {}, key=SEAL, lane="slow", at=at)


def load_buffers(c: Connection) -> tuple[Buffer, ...]:
    """Return the buffers that hold something, lowest level first."""
    found = [
        Buffer(level=0, items=items, tokens=tokens or 0, oldest_at=oldest or 0.0)
        for items, tokens, oldest in c.execute(
            "SELECT count(*), sum(tokens), min(added_at) FROM tree_chunks WHERE parent IS NULL"
        )
        if items
    ]
    rows = c.execute(
        "SELECT level, count(*), sum(tokens), min(made_at) FROM tree_nodes WHERE parent IS NULL GROUP BY level"
        " ORDER BY level"
    )
    found += [Buffer(level=level, items=n, tokens=tokens, oldest_at=oldest) for level, n, tokens, oldest in rows]
    return tuple(found)


def load_buffered_chunks(c: Connection, limit: int) -> tuple[StoredChunk, ...]:
    """Return the oldest leaves without a node above them."""
    return tuple(
        map(
            _read_chunk,
            c.execute(f"SELECT {_CHUNK} WHERE k.parent IS NULL ORDER BY k.added_at, k.started_at LIMIT ?", (limit,)),
        )
    )


def load_buffered_nodes(c: Connection, level: int, limit: int) -> tuple[StoredNode, ...]:
    """Return the oldest nodes of a level without one above them."""
    rows = c.execute(f"SELECT {_NODE} WHERE parent IS NULL AND level = ? ORDER BY made_at LIMIT ?", (level, limit))
    return tuple(map(_read_node, rows))


def add_node(
    c: Connection,
    level: int,
    children: Sequence[str],
    *,
    started_at: float,
    ended_at: float,
    tokens: int,
    summary: str,
    source: str,
    at: float,
    next_try_at: float | None,
) -> str | None:
    """Seal: a node over these buffered items, their parent links with it; None if the buffer changed meanwhile."""
    table, key = ("tree_chunks", "chunk_id") if level == 1 else ("tree_nodes", "node_id")
    listed = json.dumps(list(children))
    (free,) = c.execute(
        f"SELECT count(*) FROM {table} WHERE parent IS NULL AND {key} IN (SELECT value FROM json_each(?))", (listed,)
    ).fetchone() or (0,)
    if free != len(children):
        return None
    node_id = f"node-{uuid.uuid4()}"
    c.execute(
        "INSERT INTO tree_nodes(node_id, level, started_at, ended_at, items, tokens, summary, summary_source, made_at,"
        " next_try_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (node_id, level, started_at, ended_at, len(children), tokens, summary, source, at, next_try_at),
    )
    c.execute(f"UPDATE {table} SET parent = ? WHERE {key} IN (SELECT value FROM json_each(?))", (node_id, listed))
    return node_id


def load_to_redo(c: Connection, *, now: float, with_model: bool) -> tuple[StoredNode, ...]:
    """Return nodes to make again, lowest first: those that lost a leaf, and with a model those made without one."""
    rows = c.execute(
        f"SELECT {_NODE} WHERE stale OR (? AND summary_source = 'heuristic' AND coalesce(next_try_at, 0) <= ?)"
        " ORDER BY level, stale DESC, made_at LIMIT 20",
        (with_model, now),
    )
    return tuple(map(_read_node, rows))


def load_children(c: Connection, node: StoredNode) -> tuple[StoredChunk, ...] | tuple[StoredNode, ...]:
    """Return what a node stands over, in order of time."""
    if node.level == 1:
        return tuple(
            map(_read_chunk, c.execute(f"SELECT {_CHUNK} WHERE k.parent = ? ORDER BY k.started_at", (node.id,)))
        )
    return tuple(map(_read_node, c.execute(f"SELECT {_NODE} WHERE parent = ? ORDER BY started_at", (node.id,))))


def rewrite_node(
    c: Connection,
    node: StoredNode,
    *,
    started_at: float,
    ended_at: float,
    items: int,
    tokens: int,
    summary: str,
    source: str,
    attempts: int,
    next_try_at: float | None,
) -> None:
    """Put a node's words in their place once it was made again."""
    c.execute(
        "UPDATE tree_nodes SET started_at = ?, ended_at = ?, items = ?, tokens = ?, summary = ?, summary_source = ?,"
        " attempts = ?, next_try_at = ?, stale = 0 WHERE node_id = ?",
        (started_at, ended_at, items, tokens, summary, source, attempts, next_try_at, node.id),
    )


def delete_node(c: Connection, node_id: str) -> None:
    """Remove a node that stands over nothing any more; the one above it is made again."""
    c.execute(
        "UPDATE tree_nodes SET stale = 1 WHERE node_id = (SELECT parent FROM tree_nodes WHERE node_id = ?)", (node_id,)
    )
    c.execute("DELETE FROM tree_nodes WHERE node_id = ?", (node_id,))


def needs_work(c: Connection) -> bool:
    """Whether nodes must be made again or files removed."""
    row = c.execute(
        "SELECT EXISTS(SELECT 1 FROM tree_nodes WHERE stale) OR EXISTS(SELECT 1 FROM tree_unlinks)"
    ).fetchone()
    return bool(row and row[0])


def load_unlinks(c: Connection) -> tuple[str, ...]:
    """Return the names (below the tree's content folder, without ending) of files whose item is gone."""
    return tuple(name for (name,) in c.execute("SELECT name FROM tree_unlinks"))


def drop_unlinks(c: Connection, names: Sequence[str]) -> None:
    c.executemany("DELETE FROM tree_unlinks WHERE name = ?", [(name,) for name in names])


def load_chunks(
    c: Connection, *, session_id: SessionId | None = None, since: float = 0.0, until: float = 1e18
) -> tuple[StoredChunk, ...]:
    """Return leaves by time, of one conversation if given, that began in [since, until) (s)."""
    rows = c.execute(
        f"SELECT {_CHUNK} JOIN conversations v ON v.session_id = k.session_id AND v.deleted_at IS NULL"
        " WHERE (? IS NULL OR k.session_id = ?) AND k.started_at >= ? AND k.started_at < ?"
        " ORDER BY k.started_at, k.first_turn, k.place",
        (session_id, session_id, since, until),
    )
    return tuple(map(_read_chunk, rows))


def load_outline(c: Connection) -> tuple[tuple[SessionId, str, float, int], ...]:
    """Return (conversation, its title, when, tokens) of every leaf, by time."""
    rows = c.execute(
        "SELECT k.session_id, v.title, k.started_at, k.tokens FROM tree_chunks k"
        " JOIN conversations v ON v.session_id = k.session_id AND v.deleted_at IS NULL ORDER BY k.started_at, k.place"
    )
    return tuple((SessionId(session_id), title, at, tokens) for session_id, title, at, tokens in rows)


def load_nodes(c: Connection, level: int | None = None) -> tuple[StoredNode, ...]:
    """Return nodes, highest level first, newest first within one."""
    rows = c.execute(
        f"SELECT {_NODE} WHERE ? IS NULL OR level = ? ORDER BY level DESC, started_at DESC", (level, level)
    )
    return tuple(map(_read_node, rows))


def get_node(c: Connection, node_id: str) -> StoredNode | None:
    rows = c.execute(f"SELECT {_NODE} WHERE node_id = ?", (node_id,))
    return next(map(_read_node, rows), None)


def _write_messages(messages: Sequence[StoredMessage]) -> str:
    return json.dumps([[m.turn, m.role, m.at, m.text] for m in messages], ensure_ascii=False)


def _read_chunk(row: Row) -> StoredChunk:
    chunk_id, session_id, segment_id, first, last, started_at, ended_at, tokens, partial, messages, parent, added = row
    return StoredChunk(
        id=chunk_id,
        session_id=SessionId(session_id),
        segment_id=SegmentId(segment_id),
        first_turn=TurnId(first),
        last_turn=TurnId(last),
        started_at=started_at,
        ended_at=ended_at,
        tokens=tokens,
        partial=bool(partial),
        messages=tuple(
            StoredMessage(turn=TurnId(turn), role=Role(role), at=at, text=text)
            for turn, role, at, text in json.loads(messages)
        ),
        parent=parent,
        added_at=added,
    )


def _read_node(row: Row) -> StoredNode:
    node_id, level, parent, started_at, ended_at, items, tokens, summary, source, made_at, attempts, next_try_at = row
    return StoredNode(
        id=node_id,
        level=level,
        parent=parent,
        started_at=started_at,
        ended_at=ended_at,
        items=items,
        tokens=tokens,
        summary=summary,
        source=source,
        made_at=made_at,
        attempts=attempts,
        next_try_at=next_try_at,
    )
