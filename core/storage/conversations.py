"""Conversations: the rows of the list, and what is remembered about each as a whole."""

from dataclasses import dataclass

from core.model import Conversation, SessionId, TurnId
from core.storage import turns
from core.storage.database import Connection, Row

# `+`: the index of unfinished messages holds a row or none, that of the session's messages thousands
_COLUMNS = """session_id, title, preview, created_at, updated_at, turn_count, pinned, remember,
  EXISTS(SELECT 1 FROM messages m WHERE +m.session_id = c.session_id AND m.status IN ('waiting', 'streaming'))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the steps of a turn need to know of its conversation."""

    remember: bool
    language: str  # BCP 47, "" while unknown
    title: str
    pending_tokens: int
    live_tokens: int


def ensure(c: Connection, session_id: SessionId, *, at: float, title: str = "") -> None:
    """Insert a conversation unless it is there, deleted or not."""
    c.execute(
        "INSERT INTO conversations(session_id, title, created_at, updated_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (session_id, title, at, at),
    )


def add(c: Connection, session_id: SessionId, *, at: float, title: str = "") -> Conversation:
    """Insert a conversation unless it is there; return it."""
    ensure(c, session_id, at=at, title=title)
    found = get(c, session_id)
    assert found is not None
    return found


def get(c: Connection, session_id: SessionId) -> Conversation | None:
    """Return a conversation that is not deleted, or None."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM conversations c WHERE session_id = ? AND deleted_at IS NULL", (session_id,)
    )
    return next((_read(row) for row in rows), None)


def load_standing(c: Connection, session_id: SessionId) -> Standing | None:
    """Return what a turn's steps need of a conversation; None if it was deleted."""
    rows = c.execute(
        "SELECT remember, language, title, pending_tokens, live_tokens FROM conversations"
        " WHERE session_id = ? AND deleted_at IS NULL",
        (session_id,),
    )
    return next(
        (
            Standing(remember=bool(remember), language=language, title=title, pending_tokens=pending, live_tokens=live)
            for remember, language, title, pending, live in rows
        ),
        None,
    )


def count_turn(c: Connection, session_id: SessionId, turn: TurnId, *, keep: int) -> Standing | None:
    """Count the tokens of a new turn of finished messages, `keep` messages being the window; return the standing.

    The counters come out as rebuilding them from all live messages would have them (working-memory.md section
    19), but only the window is read. None if the conversation was deleted.
    """
    # three plain statements: one UPDATE with all of it in subqueries takes four times as long
    (own,) = c.execute(
        f"SELECT coalesce(sum(tokens), 0) FROM messages WHERE turn = ? AND {turns.IS_LIVE}", (turn,)
    ).fetchone() or (0,)
    (window,) = c.execute(
        "SELECT coalesce(sum(tokens), 0) FROM (SELECT tokens FROM messages WHERE session_id = ? AND archive IS NULL"
        f" AND {turns.IS_LIVE} ORDER BY turn DESC, role LIMIT ?)",
        (session_id, keep),
    ).fetchone() or (0,)
    rows = c.execute(
        "UPDATE conversations SET live_tokens = live_tokens + ?1, pending_tokens = live_tokens + ?1 - ?2"
        " WHERE session_id = ?3 RETURNING remember, language, title, pending_tokens, live_tokens, deleted_at",
        (own, window, session_id),
    )
    return next(
        (
            Standing(remember=bool(remember), language=language, title=title, pending_tokens=pending, live_tokens=live)
            for remember, language, title, pending, live, deleted_at in list(rows)
            if deleted_at is None
        ),
        None,
    )


def load_all(c: Connection) -> tuple[Conversation, ...]:
    """Return all that are not deleted: pinned first, then the newest."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM conversations c WHERE deleted_at IS NULL"
        " ORDER BY pinned DESC, updated_at DESC, created_at DESC, session_id"
    )
    return tuple(_read(row) for row in rows)


def find_empty(c: Connection) -> Conversation | None:
    """Return the newest conversation that has no turn and no draft, so that it can be used again."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM conversations c WHERE deleted_at IS NULL AND turn_count = 0 AND draft = ''"
        " AND titled_by_user = 0 AND NOT pinned ORDER BY created_at DESC LIMIT 1"
    )
    return next((_read(row) for row in rows), None)


def rename(c: Connection, session_id: SessionId, title: str, *, by_user: bool) -> None:
    """Set the title; one set by the user is never overwritten by the program."""
    guard = "" if by_user else " AND NOT titled_by_user"
    c.execute(
        "UPDATE conversations SET title = ?, titled_by_user = titled_by_user OR ? WHERE session_id = ?" + guard,
        (title, by_user, session_id),
    )


def set_preview(c: Connection, session_id: SessionId, preview: str) -> None:
    """Set the line under the title: the newest thing that was kept."""
    c.execute("UPDATE conversations SET preview = ? WHERE session_id = ?", (preview, session_id))


def set_pinned(c: Connection, session_id: SessionId, pinned: bool) -> None:
    c.execute("UPDATE conversations SET pinned = ? WHERE session_id = ?", (pinned, session_id))


def set_remember(c: Connection, session_id: SessionId, remember: bool) -> None:
    c.execute("UPDATE conversations SET remember = ? WHERE session_id = ?", (remember, session_id))


def set_deleted(c: Connection, session_id: SessionId, at: float | None) -> None:
    """Hide a conversation (`at`) or bring it back (None)."""
    c.execute("UPDATE conversations SET deleted_at = ? WHERE session_id = ?", (at, session_id))


def touch(c: Connection, session_id: SessionId, *, at: float, preview: str = "") -> None:
    """Count a new turn, move the conversation up the list; `preview` stands there until something is kept."""
    c.execute(
        "UPDATE conversations SET turn_count = turn_count + 1, updated_at = max(updated_at, ?),"
        " preview = CASE preview WHEN '' THEN ? ELSE preview END WHERE session_id = ?",
        (at, preview, session_id),
    )


def load_draft(c: Connection, session_id: SessionId) -> str:
    return str(_value(c, "draft", session_id) or "")


def save_draft(c: Connection, session_id: SessionId, text: str) -> None:
    c.execute("UPDATE conversations SET draft = ? WHERE session_id = ?", (text, session_id))


def load_language(c: Connection, session_id: SessionId) -> str:
    """Return the BCP 47 tag of the conversation's language, "" while unknown."""
    return str(_value(c, "language", session_id) or "")


def set_language(c: Connection, session_id: SessionId, language: str) -> None:
    c.execute("UPDATE conversations SET language = ? WHERE session_id = ?", (language, session_id))


def load_counters(c: Connection, session_id: SessionId) -> tuple[int, int]:
    """Return (pending tokens, live tokens)."""
    rows = c.execute("SELECT pending_tokens, live_tokens FROM conversations WHERE session_id = ?", (session_id,))
    return next(((pending, live) for pending, live in rows), (0, 0))


def set_counters(c: Connection, session_id: SessionId, *, pending_tokens: int, live_tokens: int) -> None:
    c.execute(
        "UPDATE conversations SET pending_tokens = ?, live_tokens = ? WHERE session_id = ?",
        (pending_tokens, live_tokens, session_id),
    )


def _value(c: Connection, column: str, session_id: SessionId) -> object:
    rows = c.execute(f"SELECT {column} FROM conversations WHERE session_id = ?", (session_id,))
    return next((value for (value,) in rows), None)


def _read(row: Row) -> Conversation:
    session_id, title, preview, created_at, updated_at, turn_count, pinned, remember, replying = row
    return Conversation(
        id=SessionId(session_id),
        title=title,
        preview=preview,
        created_at=created_at,
        updated_at=updated_at,
        turn_count=turn_count,
        pinned=bool(pinned),
        remember=bool(remember),
        replying=bool(replying),
    )
