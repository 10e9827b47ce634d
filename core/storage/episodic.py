"""The index of what was said: one redacted row a message, in FTS5 and beside its vectors.

Everything in here has passed the redactor; the transcript itself is in `turns`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import Role, SessionId, TurnId
from core.storage.database import Connection

# Chinese, Japanese and Korean letters: the runs whose overlapping pairs are indexed (archivist.md section 2)
_CJK_RUN = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯\U00020000-\U000323af]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicRow:
    """One indexed message; `ts` in s."""

    id: int
    turn: TurnId
    session_id: SessionId
    ts: float
    role: Role
    content: str


def pair_cjk(text: str) -> str:
    """Return the overlapping pairs of each CJK run and the run's last character, blank-separated."""
    pieces: list[str] = []
    for run in _CJK_RUN.findall(text):
        pieces += [run[i : i + 2] for i in range(len(run) - 1)]
        pieces.append(run[-1])
    return " ".join(pieces)


def put(c: Connection, session_id: SessionId, turn: TurnId, role: Role, *, content: str, ts: float) -> int:
    """Insert or replace the row of (turn, role); neighbours' columns follow. Returns its id."""
    previous = _neighbour(c, session_id, turn, role)
    rows = c.execute(
        "INSERT INTO episodic(turn, session_id, ts, role, content, cjk, prev) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(turn, role) DO UPDATE SET ts = excluded.ts, content = excluded.content, cjk = excluded.cjk"
        " RETURNING id",
        (turn, session_id, ts, role, content, pair_cjk(content), previous[1] if previous else ""),
    )
    row_id = next(int(i) for (i,) in rows)
    if previous:
        c.execute("UPDATE episodic SET next = ? WHERE id = ?", (content, previous[0]))
    return row_id


def load_turn(c: Connection, turn: TurnId) -> tuple[EpisodicRow, ...]:
    """Return the rows of a turn, the user's first."""
    rows = c.execute(
        "SELECT id, turn, session_id, ts, role, content FROM episodic WHERE turn = ? ORDER BY role DESC",
        (turn,),
    )
    return tuple(
        EpisodicRow(id=i, turn=TurnId(t), session_id=SessionId(session_id), ts=ts, role=Role(role), content=content)
        for i, t, session_id, ts, role, content in rows
    )


def load_recent_texts(c: Connection, session_id: SessionId, *, before: TurnId, limit: int) -> tuple[str, ...]:
    """Return the last texts of both roles before a turn, oldest first."""
    rows = c.execute(
        "SELECT content FROM episodic WHERE session_id = ? AND turn < ? ORDER BY turn DESC, role LIMIT ?",
        (session_id, before, limit),
    )
    return tuple(content for (content,) in rows)[::-1]


def load_recent_user_texts(c: Connection, session_id: SessionId, *, before: TurnId, limit: int) -> tuple[str, ...]:
    """Return the user's last texts before a turn, oldest first."""
    rows = c.execute(
        "SELECT content FROM episodic WHERE session_id = ? AND role = 'user' AND turn < ? ORDER BY turn DESC LIMIT ?",
        (session_id, before, limit),
    )
    return tuple(content for (content,) in rows)[::-1]


def load_user_texts(c: Connection, session_id: SessionId, *, first: TurnId, last: TurnId) -> tuple[str, ...]:
    """Return the user's texts of a stretch of turns, oldest first."""
    rows = c.execute(
        "SELECT content FROM episodic WHERE session_id = ? AND role = 'user' AND turn BETWEEN ? AND ? ORDER BY turn",
        (session_id, first, last),
    )
    return tuple(content for (content,) in rows)


def search(c: Connection, match: str, *, limit: int = 20) -> tuple[EpisodicRow, ...]:
    """Return the best rows for an FTS5 expression that the caller has quoted."""
    if not match:
        return ()
    rows = c.execute(
        "SELECT e.id, e.turn, e.session_id, e.ts, e.role, e.content FROM episodic_fts f"
        " JOIN episodic e ON e.id = f.rowid WHERE episodic_fts MATCH ?"
        " ORDER BY bm25(episodic_fts, 1, 1, 0.5, 0.2, 0.5) LIMIT ?",
        (match, limit),
    )
    return tuple(
        EpisodicRow(id=i, turn=TurnId(t), session_id=SessionId(session_id), ts=ts, role=Role(role), content=content)
        for i, t, session_id, ts, role, content in rows
    )


def add_signature(c: Connection, signature: str, dimension: int) -> int:
    """Register an embedding model and make its vector table; returns the table's number."""
    known = c.execute("SELECT id FROM signatures WHERE signature = ?", (signature,)).fetchone()
    if known is not None:
        return int(known[0])
    c.execute("INSERT INTO signatures(signature, dimension) VALUES (?, ?)", (signature, dimension))
    number = c.last_insert_rowid()
    c.execute(
        f"CREATE VIRTUAL TABLE vectors_{number} USING vec0(embedding float[{int(dimension)}] distance_metric=cosine)"
    )
    return number


def put_vectors(c: Connection, table: int, vectors: Sequence[tuple[int, bytes]]) -> None:
    """Store float32 little-endian vectors by episodic row id, replacing older ones."""
    for row_id, vector in vectors:
        c.execute(f"DELETE FROM vectors_{int(table)} WHERE rowid = ?", (row_id,))
        c.execute(f"INSERT INTO vectors_{int(table)}(rowid, embedding) VALUES (?, ?)", (row_id, vector))


def count_vectors(c: Connection, table: int) -> int:
    (count,) = c.execute(f"SELECT count(*) FROM vectors_{int(table)}").fetchone() or (0,)
    return int(count)


def find_nearest(c: Connection, table: int, vector: bytes, *, limit: int) -> tuple[tuple[int, float], ...]:
    """Return (episodic row id, cosine distance), nearest first."""
    rows = c.execute(
        f"SELECT rowid, distance FROM vectors_{int(table)} WHERE embedding MATCH ? AND k = ? ORDER BY distance",
        (vector, limit),
    )
    return tuple((row_id, distance) for row_id, distance in rows)


def _neighbour(c: Connection, session_id: SessionId, turn: TurnId, role: Role) -> tuple[int, str] | None:
    """The row just before (turn, role) in its conversation; a turn's user row comes first."""
    if role is Role.ASSISTANT:
        sql = (
            "SELECT id, content FROM episodic WHERE session_id = ? AND turn <= ?"
            " AND NOT (turn = ? AND role = 'assistant')"
        )
        bindings: tuple[str | int, ...] = (session_id, turn, turn)
    else:
        sql = "SELECT id, content FROM episodic WHERE session_id = ? AND turn < ?"
        bindings = (session_id, turn)
    row = c.execute(sql + " ORDER BY turn DESC, role LIMIT 1", bindings).fetchone()
    return None if row is None else (int(row[0]), str(row[1]))
