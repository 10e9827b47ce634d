"""An index of the turns whose tools failed: few among many."""

SQL = """
CREATE INDEX episodic_lessons ON episodic(session_id, turn) WHERE lesson IS NOT NULL;
"""
