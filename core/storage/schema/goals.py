"""Proposals about long-term goals, and the number that the next goal gets: numbers are never used twice.

A proposal rests on a turn and goes with it; one that was dismissed stays, so that it is not made again.
"""

SQL = """
CREATE TABLE goal_numbers(
  workspace TEXT PRIMARY KEY,
  next_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE goal_proposals(
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'delete')),
  goal TEXT NOT NULL,
  text TEXT NOT NULL,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  turns_json TEXT NOT NULL,
  why TEXT NOT NULL,
  at REAL NOT NULL,
  dismissed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX goal_proposals_once ON goal_proposals(workspace, kind, goal, text);
CREATE INDEX goal_proposals_by_turn ON goal_proposals(turn);
"""
