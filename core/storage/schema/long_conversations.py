"""What a conversation of many thousand turns needs to stay as quick as a short one.

Parked lists in a column of their own, most of them as what changed: whole in every version they would take up the
conversation's length squared. Indexes for what each commit asks, where otherwise all archives and jobs are read.
"""

SQL = """
ALTER TABLE memory_versions ADD COLUMN parked BLOB;
ALTER TABLE memory_versions ADD COLUMN parked_steps INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_session ON jobs(session_id, kind);
CREATE INDEX archives_uncovered ON archives(session_id, number)
  WHERE version IS NULL AND state IN ('pending', 'failed');
"""
