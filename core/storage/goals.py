"""Proposals about long-term goals and the next goal's number, a workspace each."""

import json
from dataclasses import dataclass

from core.model import TurnId
from core.storage.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """A change that waits for the user: kind add, edit or delete; `at` in s."""

    id: int
    kind: str
    goal: str
    text: str
    turns: tuple[TurnId, ...]
    why: str
    at: float


def get_next_number(c: Connection, workspace: str) -> int:
    """Return the number that the next goal gets at least."""
    row = c.execute("SELECT next_number FROM goal_numbers WHERE workspace = ?", (workspace,)).fetchone()
    return int(row[0]) if row else 1


def raise_next_number(c: Connection, workspace: str, number: int) -> None:
    """Store the next goal's number; it only grows."""
    c.execute(
        "INSERT INTO goal_numbers(workspace, next_number) VALUES (?, ?) ON CONFLICT(workspace)"
        " DO UPDATE SET next_number = max(next_number, excluded.next_number)",
        (workspace, number),
    )


def propose(
    c: Connection, workspace: str, *, kind: str, goal: str, text: str, turns: tuple[TurnId, ...], why: str, at: float
) -> bool:
    """Store a proposal once; False if it waits already, was dismissed, or its turn is gone."""
    rows = c.execute(
        "INSERT INTO goal_proposals(workspace, kind, goal, text, turn, turns_json, why, at)"
        " SELECT ?, ?, ?, ?, turn, ?, ?, ? FROM turns WHERE turn = ? ON CONFLICT DO NOTHING RETURNING 1",
        (workspace, kind, goal, text, json.dumps(turns), why, at, turns[0]),
    )
    return bool(list(rows))


def load_proposals(c: Connection, workspace: str) -> tuple[ProposalRow, ...]:
    """Return what waits for the user, oldest first."""
    rows = c.execute(
        "SELECT p.id, p.kind, p.goal, p.text, p.turns_json, p.why, p.at FROM goal_proposals p JOIN turns t USING (turn)"
        " JOIN conversations v ON v.session_id = t.session_id AND v.deleted_at IS NULL"
        " WHERE p.workspace = ? AND NOT p.dismissed ORDER BY p.id",
        (workspace,),
    )
    return tuple(
        ProposalRow(
            id=i,
            kind=kind,
            goal=goal,
            text=text,
            turns=tuple(TurnId(turn) for turn in json.loads(turns)),
            why=why,
            at=at,
        )
        for i, kind, goal, text, turns, why, at in rows
    )


def dismiss(c: Connection, proposal_id: int) -> None:
    """Let a proposal go; it is not made again."""
    c.execute("UPDATE goal_proposals SET dismissed = 1 WHERE id = ?", (proposal_id,))


def drop(c: Connection, proposal_id: int) -> None:
    """Delete a proposal that was taken."""
    c.execute("DELETE FROM goal_proposals WHERE id = ?", (proposal_id,))
