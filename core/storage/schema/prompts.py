"""What was sent with each reply, where a conversation's history was cut, and its own instructions.

Texts that stand in many prompts of a conversation are kept once. Messages are named, not copied: their text is the
transcript's. What is forgotten of the user takes all records with it, for any of them may hold the words.
"""

SQL = """
ALTER TABLE conversations ADD COLUMN instructions TEXT NOT NULL DEFAULT '';

CREATE TABLE prompts(
  turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  at REAL,
  model TEXT NOT NULL DEFAULT '',
  context_tokens INTEGER NOT NULL DEFAULT 0,
  reserve_tokens INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER,
  reused_tokens INTEGER
) STRICT;
CREATE INDEX prompts_by_session ON prompts(session_id, turn);

CREATE TABLE prompt_texts(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX prompt_texts_by_session ON prompt_texts(session_id);

CREATE TABLE prompt_parts(
  turn INTEGER NOT NULL REFERENCES prompts ON DELETE CASCADE,
  place INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  share_tokens INTEGER NOT NULL,
  left_out INTEGER NOT NULL,
  why TEXT NOT NULL,
  text_id INTEGER NOT NULL REFERENCES prompt_texts ON DELETE CASCADE,
  messages_json TEXT NOT NULL,
  PRIMARY KEY(turn, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX prompt_parts_by_text ON prompt_parts(text_id);

CREATE TABLE history_starts(
  session_id TEXT PRIMARY KEY REFERENCES conversations ON DELETE CASCADE,
  version INTEGER NOT NULL,
  start INTEGER,
  recap TEXT NOT NULL DEFAULT '',
  next_recap TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TRIGGER prompts_forgotten AFTER DELETE ON facets BEGIN
  DELETE FROM prompts;
  DELETE FROM prompt_texts;
  UPDATE history_starts SET recap = '', next_recap = '';
END;
"""
