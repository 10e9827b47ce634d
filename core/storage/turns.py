"""Turns and their messages: the chat transcript, kept exactly as it was said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.model import Message, MessageId, MessageStatus, Role, SessionId, TurnId
from core.storage.database import Connection, Row

_COLUMNS = """m.id, m.session_id, m.turn, m.role, m.text, m.status, m.created_at, m.ended_at, m.model,
  m.tokens_per_s, m.error, m.note, CASE m.role WHEN 'assistant' THEN t.kept ELSE 0 END"""
Hook = Literal["none", "pending", "done"]  # what runs after a turn: not yet, waits to be claimed, was claimed
IS_LIVE = "status NOT IN ('waiting', 'streaming') AND text <> ''"  # of messages that no archive holds
_FROM = "FROM messages m JOIN turns t ON t.turn = m.turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A finished turn as the hook needs it; `reply` is None while there is none."""

    turn: TurnId
    session_id: SessionId
    user: Message
    reply: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """A message that no archive holds yet."""

    id: MessageId
    turn: TurnId
    role: Role
    text: str
    tokens: int  # estimate


def add_turn(
    c: Connection, session_id: SessionId, *, source_key: str | None = None, hook: Hook = "none"
) -> TurnId | None:
    """Number a new turn; None if `source_key` is there already."""
    rows = c.execute(
        "INSERT INTO turns(session_id, source_key, hook) VALUES (?, ?, ?) ON CONFLICT(source_key) DO NOTHING"
        " RETURNING turn",
        (session_id, source_key, hook),
    )
    return next((TurnId(turn) for (turn,) in rows), None)


def add_message(
    c: Connection,
    session_id: SessionId,
    turn: TurnId,
    role: Role,
    text: str,
    *,
    status: MessageStatus,
    at: float,
    tokens: int,
    ended_at: float | None = None,
    model: str | None = None,
) -> MessageId:
    """Insert one message; `at` and `ended_at` in s, `tokens` an estimate."""
    rows = c.execute(
        "INSERT INTO messages(turn, session_id, role, text, status, created_at, ended_at, model, tokens)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (turn, session_id, role, text, status, at, ended_at, model, tokens),
    )
    return next(MessageId(message_id) for (message_id,) in rows)


def get_message(c: Connection, message_id: MessageId) -> Message | None:
    rows = c.execute(f"SELECT {_COLUMNS} {_FROM} WHERE m.id = ?", (message_id,))
    return next((_read(row) for row in rows), None)


def load_by_id(c: Connection, message_ids: Sequence[MessageId]) -> tuple[Message, ...]:
    """Return some messages, oldest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE m.id IN (SELECT value FROM json_each(?)) ORDER BY m.turn, m.role DESC",
        (json.dumps(message_ids),),
    )
    return tuple(_read(row) for row in rows)


def grow_reply(c: Connection, message_id: MessageId, text: str) -> None:
    """Save what a running reply has so far."""
    c.execute("UPDATE messages SET text = ?, status = 'streaming' WHERE id = ?", (text, message_id))


def finish_reply(
    c: Connection,
    message_id: MessageId,
    text: str,
    *,
    status: MessageStatus,
    at: float,
    tokens: int,
    model: str | None = None,
    tokens_per_s: float | None = None,
    error: str | None = None,
    note: str = "",
) -> None:
    """End a reply and mark its turn as waiting for the hook, both in the caller's transaction."""
    c.execute(
        "UPDATE messages SET text = ?, status = ?, ended_at = max(?, created_at + 0.001), tokens = ?,"
        " model = coalesce(?, model), tokens_per_s = ?, error = ?, note = ? WHERE id = ?",
        (text, status, at, tokens, model, tokens_per_s, error, note, message_id),
    )
    c.execute(
        "UPDATE turns SET hook = 'pending' WHERE turn = (SELECT turn FROM messages WHERE id = ?)",
        (message_id,),
    )


def set_note(c: Connection, message_id: MessageId, note: str) -> None:
    """Say under a message what was done because of it."""
    c.execute("UPDATE messages SET note = ? WHERE id = ?", (note, message_id))


def interrupt_unfinished(c: Connection) -> int:
    """Mark replies that a crash cut off; what they had is kept. Returns how many.

    Called at the start of the one app that owns the data folder, when no reply can be running.
    """
    rows = c.execute(
        "UPDATE messages SET status = 'interrupted', ended_at = created_at + 0.001, tokens = length(text) / 4"
        " WHERE status IN ('waiting', 'streaming') RETURNING turn"
    )
    cut = [turn for (turn,) in rows]
    c.executemany("UPDATE turns SET hook = 'pending' WHERE turn = ?", [(turn,) for turn in cut])
    return len(cut)


def load_messages(
    c: Connection, session_id: SessionId, *, before: TurnId | None = None, limit_turns: int = 40
) -> tuple[Message, ...]:
    """Return the newest `limit_turns` turns before `before`, oldest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE m.turn IN ("
        "   SELECT turn FROM turns WHERE session_id = ? AND turn < ? ORDER BY turn DESC LIMIT ?)"
        " ORDER BY m.turn, m.role DESC",
        (session_id, before if before is not None else 2**62, limit_turns),
    )
    return tuple(_read(row) for row in rows)


def load_turn(c: Connection, turn: TurnId) -> Turn | None:
    rows = [_read(row) for row in c.execute(f"SELECT {_COLUMNS} {_FROM} WHERE m.turn = ?", (turn,))]
    by_role = {message.role: message for message in rows}
    if Role.USER not in by_role:
        return None
    user = by_role[Role.USER]
    return Turn(turn=turn, session_id=user.session_id, user=user, reply=by_role.get(Role.ASSISTANT))


def load_waiting(c: Connection, limit: int = 100) -> tuple[TurnId, ...]:
    """Return turns whose hook has not run, oldest first."""
    rows = c.execute("SELECT turn FROM turns WHERE hook = 'pending' ORDER BY turn LIMIT ?", (limit,))
    return tuple(TurnId(turn) for (turn,) in rows)


def find_by_source(c: Connection, source_key: str) -> TurnId | None:
    rows = c.execute("SELECT turn FROM turns WHERE source_key = ?", (source_key,))
    return next((TurnId(turn) for (turn,) in rows), None)


def set_hook_pending(c: Connection, turn: TurnId) -> None:
    c.execute("UPDATE turns SET hook = 'pending' WHERE turn = ?", (turn,))


def set_hook_done(c: Connection, turn: TurnId) -> bool:
    """Claim a waiting turn for the hook; False if another process did."""
    return bool(
        list(c.execute("UPDATE turns SET hook = 'done' WHERE turn = ? AND hook = 'pending' RETURNING 1", (turn,)))
    )


def set_outcome(c: Connection, turn: TurnId, *, kept: int, similarity: float | None) -> None:
    """Record what became of a turn: lines kept, cosine to its segment's centroid before it."""
    c.execute("UPDATE turns SET kept = ?, similarity = ? WHERE turn = ?", (kept, similarity, turn))


def load_live(c: Connection, session_id: SessionId) -> tuple[LiveMessage, ...]:
    """Return what no archive holds yet, oldest first, running replies left out."""
    rows = c.execute(
        "SELECT id, turn, role, text, tokens FROM messages WHERE session_id = ? AND archive IS NULL"
        f" AND {IS_LIVE} ORDER BY turn, role DESC",
        (session_id,),
    )
    return tuple(
        LiveMessage(id=MessageId(i), turn=TurnId(turn), role=Role(role), text=text, tokens=tokens)
        for i, turn, role, text, tokens in rows
    )


def load_newest(c: Connection, session_id: SessionId, *, limit: int) -> tuple[LiveMessage, ...]:
    """Return the newest finished messages, archived or not, oldest first."""
    rows = c.execute(
        "SELECT id, turn, role, text, tokens FROM (SELECT * FROM messages WHERE session_id = ?"
        f" AND {IS_LIVE} ORDER BY turn DESC, role LIMIT ?) ORDER BY turn, role DESC",
        (session_id, limit),
    )
    return tuple(
        LiveMessage(id=MessageId(i), turn=TurnId(turn), role=Role(role), text=text, tokens=tokens)
        for i, turn, role, text, tokens in rows
    )


def load_live_estimates(c: Connection, session_id: SessionId) -> tuple[int, ...]:
    """Return the token estimates of the live messages, oldest first."""
    rows = c.execute(
        f"SELECT tokens FROM messages WHERE session_id = ? AND archive IS NULL AND {IS_LIVE} ORDER BY turn, role DESC",
        (session_id,),
    )
    return tuple(tokens for (tokens,) in rows)


def load_archived(c: Connection, session_id: SessionId, archive: int) -> tuple[Message, ...]:
    """Return the messages that an archive holds, oldest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE m.session_id = ? AND m.archive = ? ORDER BY m.turn, m.role DESC",
        (session_id, archive),
    )
    return tuple(_read(row) for row in rows)


def archive_messages(c: Connection, message_ids: Sequence[MessageId], archive: int) -> None:
    """Move live messages into an archive."""
    c.executemany(
        "UPDATE messages SET archive = ? WHERE id = ? AND archive IS NULL",
        [(archive, message_id) for message_id in message_ids],
    )


def _read(row: Row) -> Message:
    (
        message_id,
        session_id,
        turn,
        role,
        text,
        status,
        created_at,
        ended_at,
        model,
        tokens_per_s,
        error,
        note,
        kept,
    ) = row
    return Message(
        id=MessageId(message_id),
        session_id=SessionId(session_id),
        turn=TurnId(turn),
        role=Role(role),
        text=text,
        status=MessageStatus(status),
        created_at=created_at,
        ended_at=ended_at,
        model=model,
        tokens_per_s=tokens_per_s,
        error=error,
        note=note,
        kept=kept,
    )
