"""Parked lists of Working Memory in a column of their own, most of them as what changed; a job is found by its kind.

They grow with a conversation: whole in every version they would take up its length squared.
"""

SQL = """
ALTER TABLE memory_versions ADD COLUMN parked BLOB;
ALTER TABLE memory_versions ADD COLUMN parked_steps INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_session ON jobs(session_id, kind);
"""
