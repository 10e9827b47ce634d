"""What background work did and which process it was; which rules the stored texts were redacted by.

`job_log` is trimmed as it grows; `step_successes` keeps the last success of each kind for good.
"""

SQL = """
ALTER TABLE jobs ADD COLUMN started_at REAL NOT NULL DEFAULT 0;

CREATE TABLE job_log(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  kind TEXT NOT NULL,
  session_id TEXT REFERENCES conversations ON DELETE CASCADE,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'gave up', 'taken over')),
  owner TEXT NOT NULL,
  took_s REAL NOT NULL DEFAULT 0,
  times INTEGER NOT NULL DEFAULT 1,
  error TEXT
) STRICT;
CREATE INDEX job_log_by_session ON job_log(session_id);

CREATE TABLE step_successes(
  kind TEXT PRIMARY KEY,
  at REAL NOT NULL,
  owner TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_versions(
  name TEXT PRIMARY KEY,
  version TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
