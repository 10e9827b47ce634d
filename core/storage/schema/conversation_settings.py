"""How answers are drawn in one conversation, where that differs from the settings."""

SQL = """
CREATE TABLE conversation_settings(
  session_id TEXT PRIMARY KEY REFERENCES conversations ON DELETE CASCADE,
  preset TEXT NOT NULL DEFAULT '',
  temperature REAL NOT NULL,
  top_p REAL NOT NULL,
  top_k INTEGER NOT NULL,
  min_p REAL NOT NULL,
  repeat_penalty REAL NOT NULL,
  max_tokens INTEGER NOT NULL
) STRICT;
"""
