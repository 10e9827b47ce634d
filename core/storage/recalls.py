"""What was put before a message from earlier conversations, kept with its turn: text, sources, scores."""

import json
from collections.abc import Iterable, Sequence

from core.model import Recall, RecalledItem, SessionId, TurnId
from core.storage.database import Connection, Row


def put(c: Connection, recall: Recall) -> None:
    """Keep what was recalled for a turn; what is there already stays, as the model has read it."""
    c.execute(
        "INSERT INTO recalls(turn, session_id, at, block, items_json) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (recall.turn, recall.session_id, recall.at, recall.block, json.dumps(_pack(recall.items), ensure_ascii=False)),
    )


def get(c: Connection, turn: TurnId) -> Recall | None:
    """Return what was recalled for a turn."""
    rows = c.execute("SELECT turn, session_id, at, block, items_json FROM recalls WHERE turn = ?", (turn,))
    return next((_read(row) for row in rows), None)


def load_blocks(c: Connection, session_id: SessionId, *, after: float) -> dict[TurnId, str]:
    """Return the blocks of a conversation that came after a moment, in s, by turn; empty ones left out."""
    rows = c.execute(
        "SELECT turn, block FROM recalls WHERE session_id = ? AND at > ? AND block <> ''", (session_id, after)
    )
    return {TurnId(turn): block for turn, block in rows}


def forget_sources(c: Connection, turns: Iterable[TurnId]) -> None:
    """Delete what was recalled from the conversations of some turns, and preferences: they may hold the words."""
    numbers = json.dumps(sorted(set(turns)))
    c.execute(
        "DELETE FROM recalls WHERE EXISTS (SELECT 1 FROM json_each(recalls.items_json) item"
        " WHERE json_extract(item.value, '$.kind') = 'preference' OR json_extract(item.value, '$.session_id') IN"
        " (SELECT session_id FROM turns WHERE turn IN (SELECT value FROM json_each(?))))",
        (numbers,),
    )


def load_used(c: Connection, session_id: SessionId, kind: str, *, after: float) -> frozenset[str]:
    """Return what stands in a conversation's blocks that came after a moment, in s, by reference."""
    rows = c.execute(
        "SELECT DISTINCT json_extract(item.value, '$.ref') FROM recalls r, json_each(r.items_json) item"
        " WHERE r.session_id = ? AND r.at > ? AND json_extract(item.value, '$.kind') = ?"
        " AND json_extract(item.value, '$.used')",
        (session_id, after, kind),
    )
    return frozenset(str(ref) for (ref,) in rows)


def _pack(items: Sequence[RecalledItem]) -> list[dict[str, object]]:
    return [
        {
            "kind": item.kind,
            "ref": item.ref,
            "session_id": item.session_id,
            "title": item.title,
            "at": item.at,
            "text": item.text,
            "score": item.score,
            "cosine": item.cosine,
            "used": item.used,
        }
        for item in items
    ]


def _read(row: Row) -> Recall:
    turn, session_id, at, block, items = row
    return Recall(
        turn=TurnId(turn),
        session_id=SessionId(session_id),
        at=at,
        block=block,
        items=tuple(
            RecalledItem(**{**item, "session_id": SessionId(item["session_id"])}) for item in json.loads(items)
        ),
    )
