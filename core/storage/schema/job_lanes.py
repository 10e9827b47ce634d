"""Lanes of the job queue: what takes milliseconds does not wait for what asks a model."""

SQL = """
ALTER TABLE jobs ADD COLUMN lane TEXT NOT NULL DEFAULT 'quick' CHECK (lane IN ('quick', 'slow'));
ALTER TABLE jobs ADD COLUMN created_at REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN progress TEXT NOT NULL DEFAULT '';
"""
