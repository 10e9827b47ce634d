"""The transcript: what was said, committed before anything else happens with it.

Functions over one open transaction; `Engine` and the replay call them inside `Database.write`.
"""

from core.errors import MessageError, NotFoundError
from core.model import Message, MessageId, MessageStatus, Role, SaidTurn, SessionId, TurnId
from core.redaction import redact
from core.storage import conversations, turns
from core.storage.database import Connection
from core.text.tokens import estimate_tokens

PREVIEW_CHARS = 120
TITLE_CHARS = 60
REPLY_AFTER_S = 0.001  # a reply's place stands behind its question
HEAD_CHARS = 2_000  # of a message, in which its first line is looked for


def begin_turn(c: Connection, session_id: SessionId, text: str, *, at: float) -> tuple[Message, Message]:
    """Store the user's message and the place of its reply; its commit makes the message durable.

    Raises `NotFoundError` if the conversation is gone, `MessageError` while it still replies.
    """
    conversation = conversations.get(c, session_id)
    if conversation is None:
        raise NotFoundError("This conversation was deleted. Your text is still in the box; start a new conversation.")
    if conversation.replying:
        raise MessageError("A reply is still being written here. Stop it first, or wait for its end.")
    turn = turns.add_turn(c, session_id)
    assert turn is not None  # without a source key nothing can collide
    user = turns.add_message(
        c, session_id, turn, Role.USER, text, status=MessageStatus.COMPLETE, at=at, tokens=estimate_tokens(text)
    )
    reply = turns.add_message(
        c, session_id, turn, Role.ASSISTANT, "", status=MessageStatus.WAITING, at=at + REPLY_AFTER_S, tokens=0
    )
    conversations.touch(c, session_id, at=at, preview=_head(text, PREVIEW_CHARS))
    conversations.save_draft(c, session_id, "")
    if not conversation.title:
        conversations.rename(c, session_id, _head(text, TITLE_CHARS), by_user=False)
    return _stored(c, user), _stored(c, reply)


def record_turn(c: Connection, session_id: SessionId, said: SaidTurn, *, claimed: bool = False) -> TurnId | None:
    """Store a finished turn of a transcript; None if it is there already.

    It waits for the hook, unless the caller has `claimed` it and runs the hook in the same transaction.
    """
    turn = turns.add_turn(c, session_id, source_key=said.source_key, hook="done" if claimed else "pending")
    if turn is None:
        return None
    turns.add_message(
        c,
        session_id,
        turn,
        Role.USER,
        said.user_text,
        status=MessageStatus.COMPLETE,
        at=said.user_at,
        tokens=estimate_tokens(said.user_text),
    )
    if said.reply_text:
        turns.add_message(
            c,
            session_id,
            turn,
            Role.ASSISTANT,
            said.reply_text,
            status=MessageStatus.COMPLETE,
            at=said.user_at + REPLY_AFTER_S,
            ended_at=find_reply_end(said),
            tokens=estimate_tokens(said.reply_text),
        )
    conversations.touch(c, session_id, at=said.user_at, preview=_head(said.user_text, PREVIEW_CHARS))
    return turn


def find_reply_end(said: SaidTurn) -> float | None:
    """Return when a transcript's reply ended, in s: never before it began; None where there is none."""
    return None if not said.reply_text else max(said.reply_at, said.user_at + REPLY_AFTER_S)


def first_line(text: str, limit: int) -> str:
    """Return the first line with content, white space collapsed, cut at a word where there is one."""
    line = next((" ".join(part.split()) for part in text.splitlines() if part.strip()), "")
    if len(line) <= limit:
        return line
    cut = line[:limit]
    head = cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut
    return head.rstrip(" ,;:，；：") + "…"


def _head(text: str, limit: int) -> str:
    """The first line for the list, redacted: the list is no part of the transcript."""
    return first_line(redact(text[:HEAD_CHARS]), limit)


def _stored(c: Connection, message_id: MessageId) -> Message:
    message = turns.get_message(c, message_id)
    assert message is not None  # inserted in this transaction
    return message
