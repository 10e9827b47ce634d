"""What users did to lines of Working Memory: each change of a version by hand, and how it is taken back."""

SQL = """
CREATE TABLE memory_edits(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  version INTEGER NOT NULL,
  at REAL NOT NULL,
  words TEXT NOT NULL,
  edits_json TEXT NOT NULL,
  inverse_json TEXT NOT NULL,
  pending_json TEXT NOT NULL DEFAULT '[]',
  undoes INTEGER REFERENCES memory_edits ON DELETE CASCADE
) STRICT;
CREATE INDEX memory_edits_by_session ON memory_edits(session_id, version);
CREATE INDEX memory_edits_by_undone ON memory_edits(undoes) WHERE undoes IS NOT NULL;
"""
