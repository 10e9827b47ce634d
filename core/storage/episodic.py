"""The index of what was said: one redacted row a message, in FTS5.

Everything in here has passed the redactor; the transcript itself is in `turns`.
"""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.model import Role, SessionId, TurnId
from core.storage.database import Connection

# Chinese, Japanese and Korean letters: the runs whose overlapping pairs are indexed (archivist.md section 2)
_CJK_RUN = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯\U00020000-\U000323af]+")
_MIXED = re.compile(r"\w*[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯\U00020000-\U000323af]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicRow:
    """One indexed message; `ts` in s."""

    id: int
    turn: TurnId
    session_id: SessionId
    ts: float
    role: Role
    content: str
    lesson: str | None = None  # of the tools that failed
    tool_calls_json: str | None = None  # what was called, and how it went


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What is indexed of a turn; `reply` is "" where there is none. Times in s."""

    user: str
    user_ts: float
    reply: str
    reply_ts: float


class Neighbour(NamedTuple):
    """A message as those beside it see it."""

    id: int
    role: Role
    text: str


def pair_cjk(text: str) -> str:
    """Return the overlapping pairs of each CJK run and the run's last character, blank-separated.

    A word or number that touches a run comes along: the tokenizer of the other columns sees one word in "今年45岁".
    """
    pieces: list[str] = []
    for run in _CJK_RUN.findall(text):
        pieces += [run[i : i + 2] for i in range(len(run) - 1)]
        pieces.append(run[-1])
    if pieces:
        pieces += [word for mixed in _MIXED.findall(text) for word in _CJK_RUN.split(mixed) if word]
    return " ".join(pieces)


def put_turn(
    c: Connection, session_id: SessionId, turn: TurnId, *, user: str, user_ts: float, reply: str, reply_ts: float
) -> tuple[EpisodicRow, ...]:
    """Insert or replace the rows of a turn (no reply row for ""); neighbours' columns follow. Times in s."""
    before = load_recent(c, session_id, before=turn, limit=1)
    after = c.execute(
        "SELECT id, content FROM episodic WHERE session_id = ? AND turn > ? ORDER BY turn, role DESC LIMIT 1",
        (session_id, turn),
    ).fetchone()
    texts = Texts(user=user, user_ts=user_ts, reply=reply, reply_ts=reply_ts)
    put = append_turn(c, session_id, turn, texts, before=before[-1] if before else None, following=after and after[1])
    if after:
        c.execute("UPDATE episodic SET prev = ? WHERE id = ?", (reply or user, after[0]))
    return put


def append_turn(
    c: Connection,
    session_id: SessionId,
    turn: TurnId,
    texts: Texts,
    *,
    before: Neighbour | None,
    following: str | None = None,
) -> tuple[EpisodicRow, ...]:
    """Insert the rows of a turn behind the conversation's newest one, `before`, whose column follows.

    Both rows are written at once, so that each passes through the index once.
    """
    user, reply, following = texts.user, texts.reply, following or ""
    rows = [(Role.USER, texts.user_ts, user, before.text if before else "", reply or following)]
    if reply:
        rows.append((Role.ASSISTANT, texts.reply_ts, reply, user, following))
    ids = c.executemany(
        "INSERT INTO episodic(turn, session_id, role, ts, content, cjk, prev, next) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(turn, role) DO UPDATE SET ts = excluded.ts, content = excluded.content, cjk = excluded.cjk,"
        " prev = excluded.prev, next = excluded.next RETURNING id",
        [(turn, session_id, role, ts, text, pair_cjk(text), prev, next_) for role, ts, text, prev, next_ in rows],
    )
    put = tuple(
        EpisodicRow(id=i, turn=turn, session_id=session_id, ts=ts, role=role, content=text)
        for (i,), (role, ts, text, _, _) in zip(ids, rows, strict=True)
    )
    if before:
        c.execute("UPDATE episodic SET next = ? WHERE id = ?", (user, before.id))
    return put


def load_turn(c: Connection, turn: TurnId) -> tuple[EpisodicRow, ...]:
    """Return the rows of a turn, the user's first."""
    rows = c.execute(
        "SELECT id, turn, session_id, ts, role, content, lesson, tool_calls_json FROM episodic WHERE turn = ?"
        " ORDER BY role DESC",
        (turn,),
    )
    return tuple(
        EpisodicRow(
            id=i,
            turn=TurnId(t),
            session_id=SessionId(session_id),
            ts=ts,
            role=Role(role),
            content=content,
            lesson=lesson,
            tool_calls_json=calls,
        )
        for i, t, session_id, ts, role, content, lesson, calls in rows
    )


def put_tools(c: Connection, row: EpisodicRow, *, lesson: str | None, tool_calls_json: str) -> EpisodicRow:
    """Put what a turn's tools left on one of its rows; the lesson can be searched for. Returns the row as it is now."""
    c.execute("UPDATE episodic SET lesson = ?, tool_calls_json = ? WHERE id = ?", (lesson, tool_calls_json, row.id))
    return replace(row, lesson=lesson, tool_calls_json=tool_calls_json)


def load_recent(c: Connection, session_id: SessionId, *, before: TurnId, limit: int) -> tuple[Neighbour, ...]:
    """Return the last rows before a turn, oldest first."""
    rows = c.execute(
        "SELECT id, role, content FROM episodic WHERE session_id = ? AND turn < ? ORDER BY turn DESC, role LIMIT ?",
        (session_id, before, limit),
    )
    return tuple(Neighbour(i, Role(role), text) for i, role, text in rows)[::-1]


def load_user_texts(c: Connection, session_id: SessionId, *, first: TurnId, last: TurnId) -> tuple[str, ...]:
    """Return the user's texts of a stretch of turns, oldest first."""
    rows = c.execute(
        "SELECT content FROM episodic WHERE session_id = ? AND role = 'user' AND turn BETWEEN ? AND ? ORDER BY turn",
        (session_id, first, last),
    )
    return tuple(content for (content,) in rows)


def load_marked(c: Connection, session_id: SessionId, mark: str, *, first: TurnId) -> dict[TurnId, str]:
    """Return the user's texts from a turn on that hold a mark, by turn."""
    rows = c.execute(
        "SELECT turn, content FROM episodic WHERE session_id = ? AND role = 'user' AND turn >= ? AND instr(content, ?)",
        (session_id, first, mark),
    )
    return {TurnId(turn): content for turn, content in rows}


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
