"""How answers are drawn in one conversation: a row only where it differs from the settings."""

from core.model import SessionId
from core.model_files import Sampling
from core.storage.database import Connection


def load(c: Connection, session_id: SessionId) -> tuple[str, Sampling] | None:
    """Return (preset, values) of a conversation; None if it changes nothing."""
    row = c.execute(
        "SELECT preset, temperature, top_p, top_k, min_p, repeat_penalty, max_tokens FROM conversation_settings"
        " WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        return None
    preset, temperature, top_p, top_k, min_p, repeat_penalty, max_tokens = row
    return str(preset), Sampling(
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        repeat_penalty=repeat_penalty,
        max_tokens=max_tokens,
    )


def put(c: Connection, session_id: SessionId, preset: str, values: Sampling) -> None:
    """Keep the values of a conversation."""
    c.execute(
        "INSERT OR REPLACE INTO conversation_settings"
        "(session_id, preset, temperature, top_p, top_k, min_p, repeat_penalty, max_tokens)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            preset,
            values.temperature,
            values.top_p,
            values.top_k,
            values.min_p,
            values.repeat_penalty,
            values.max_tokens,
        ),
    )


def drop(c: Connection, session_id: SessionId) -> None:
    """Let a conversation go back to the settings."""
    c.execute("DELETE FROM conversation_settings WHERE session_id = ?", (session_id,))
