"""What was sent with each reply: parts with their texts, the newest records of each conversation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import MessageId, PartKind, PromptPart, SentPrompt, SessionId, TurnId
from core.storage.database import Connection

KEPT = 50  # records a conversation


def put(c: Connection, sent: SentPrompt) -> None:
    """Keep what was sent for a turn's reply, in place of an earlier try, and let the oldest records go."""
    c.execute(
        "INSERT INTO prompts(turn, session_id, at, model, context_tokens, reserve_tokens) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(turn) DO UPDATE SET at = excluded.at, model = excluded.model,"
        " context_tokens = excluded.context_tokens, reserve_tokens = excluded.reserve_tokens",
        (sent.turn, sent.session_id, sent.at, sent.model, sent.context_tokens, sent.reserve_tokens),
    )
    c.execute("DELETE FROM prompt_parts WHERE turn = ?", (sent.turn,))
    c.executemany(
        "INSERT INTO prompt_parts(turn, place, kind, tokens, share_tokens, left_out, why, text_id, messages_json)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                sent.turn,
                place,
                part.kind,
                part.tokens,
                part.share_tokens,
                part.left_out,
                part.why,
                _put_text(c, sent.session_id, part.text),
                json.dumps(part.messages),
            )
            for place, part in enumerate(sent.parts)
        ],
    )
    _prune(c, sent.session_id)


def set_cost(c: Connection, session_id: SessionId, turn: TurnId, *, prompt_tokens: int, reused_tokens: int) -> None:
    """Add what the model counted; the record itself may come later."""
    c.execute(
        "INSERT INTO prompts(turn, session_id, prompt_tokens, reused_tokens) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(turn) DO UPDATE SET prompt_tokens = excluded.prompt_tokens,"
        " reused_tokens = excluded.reused_tokens",
        (turn, session_id, prompt_tokens, reused_tokens),
    )


def get(c: Connection, session_id: SessionId, turn: TurnId | None = None) -> SentPrompt | None:
    """Return the record of a turn, the newest if `turn` is None or has none."""
    kept = [
        TurnId(number)
        for (number,) in c.execute(
            "SELECT turn FROM prompts WHERE session_id = ? AND at IS NOT NULL ORDER BY turn", (session_id,)
        )
    ]
    if not kept:
        return None
    at = kept.index(turn) if turn in kept else len(kept) - 1
    row = c.execute(
        "SELECT at, model, context_tokens, reserve_tokens, prompt_tokens, reused_tokens FROM prompts WHERE turn = ?",
        (kept[at],),
    ).fetchone()
    assert row is not None
    return SentPrompt(
        session_id=session_id,
        turn=kept[at],
        at=row[0],
        model=row[1],
        context_tokens=row[2],
        reserve_tokens=row[3],
        prompt_tokens=row[4],
        reused_tokens=row[5],
        parts=_load_parts(c, kept[at]),
        older=kept[at - 1] if at else None,
        newer=kept[at + 1] if at + 1 < len(kept) else None,
        place=at + 1,
        count=len(kept),
    )


def _load_parts(c: Connection, turn: TurnId) -> tuple[PromptPart, ...]:
    rows = c.execute(
        "SELECT p.kind, t.text, p.messages_json, p.tokens, p.share_tokens, p.left_out, p.why"
        " FROM prompt_parts p JOIN prompt_texts t ON t.id = p.text_id WHERE p.turn = ? ORDER BY p.place",
        (turn,),
    )
    return tuple(
        PromptPart(
            kind=PartKind(kind),
            text=text,
            messages=tuple((MessageId(number), limit) for number, limit in json.loads(messages)),
            tokens=tokens,
            share_tokens=share,
            left_out=left_out,
            why=why,
        )
        for kind, text, messages, tokens, share, left_out, why in rows
    )


def _put_text(c: Connection, session_id: SessionId, text: str) -> int:
    row = c.execute("SELECT id FROM prompt_texts WHERE session_id = ? AND text = ?", (session_id, text)).fetchone()
    if row is None:
        rows = c.execute("INSERT INTO prompt_texts(session_id, text) VALUES (?, ?) RETURNING id", (session_id, text))
        row = next(iter(rows))
    return int(row[0])


def _prune(c: Connection, session_id: SessionId) -> None:
    c.execute(
        "DELETE FROM prompts WHERE session_id = ?1 AND turn NOT IN"
        " (SELECT turn FROM prompts WHERE session_id = ?1 ORDER BY turn DESC LIMIT ?2)",
        (session_id, KEPT),
    )
    c.execute(
        "DELETE FROM prompt_texts WHERE session_id = ? AND id NOT IN (SELECT text_id FROM prompt_parts)",
        (session_id,),
    )


# -- where the history begins ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStart:
    """Where the history was cut under a version of memory, the recap shown since, and the one for the next cut."""

    start: MessageId | None = None
    recap: str = ""
    next_recap: str = ""


def load_start(c: Connection, session_id: SessionId, *, version: int) -> HistoryStart:
    """Return where the history begins while memory has a version."""
    row = c.execute(
        "SELECT start, recap, next_recap FROM history_starts WHERE session_id = ? AND version = ?",
        (session_id, version),
    ).fetchone()
    if row is None:
        return HistoryStart()
    return HistoryStart(start=None if row[0] is None else MessageId(row[0]), recap=row[1], next_recap=row[2])


def put_start(c: Connection, session_id: SessionId, start: MessageId | None, *, version: int) -> None:
    """Keep where the history begins until memory has another version; a new cut takes the newest recap."""
    c.execute("DELETE FROM history_starts WHERE session_id = ? AND version <> ?", (session_id, version))
    c.execute(
        "INSERT INTO history_starts(session_id, version, start) VALUES (?, ?, ?) ON CONFLICT(session_id) DO UPDATE SET"
        " recap = CASE WHEN start IS NOT excluded.start AND next_recap <> '' THEN next_recap ELSE recap END,"
        " start = excluded.start",
        (session_id, version, start),
    )


def put_recap(c: Connection, session_id: SessionId, recap: str, *, version: int) -> None:
    """Keep a recap for the next cut; where none is shown yet it is shown at once."""
    c.execute("DELETE FROM history_starts WHERE session_id = ? AND version <> ?", (session_id, version))
    c.execute(
        "INSERT INTO history_starts(session_id, version, recap, next_recap) VALUES (?1, ?2, ?3, ?3)"
        " ON CONFLICT(session_id) DO UPDATE SET next_recap = ?3, recap = CASE recap WHEN '' THEN ?3 ELSE recap END",
        (session_id, version, recap),
    )


# -- the conversation's own instructions -------------------------------------------------------


def load_instructions(c: Connection, session_id: SessionId) -> str:
    """Return what the user tells the model for one conversation."""
    row = c.execute("SELECT instructions FROM conversations WHERE session_id = ?", (session_id,)).fetchone()
    return str(row[0]) if row else ""


def put_instructions(c: Connection, session_id: SessionId, text: str) -> None:
    """Keep what the user tells the model for one conversation."""
    c.execute("UPDATE conversations SET instructions = ? WHERE session_id = ?", (text, session_id))


def load_summaries(c: Connection, session_id: SessionId, turns: Sequence[TurnId]) -> tuple[tuple[TurnId, str], ...]:
    """Return (last turn, recap) of the closed segments that end among some turns, oldest first."""
    if not turns:
        return ()
    rows = c.execute(
        "SELECT last_turn, summary FROM segments WHERE session_id = ? AND status = 'summarised' AND summary <> ''"
        " AND last_turn BETWEEN ? AND ? ORDER BY first_turn",
        (session_id, min(turns), max(turns)),
    )
    return tuple((TurnId(last), summary) for last, summary in rows)
