"""An index of the live messages.

Without it, what asks for the live messages of a long conversation reads all its archived ones too.
"""

SQL = """
CREATE INDEX messages_live ON messages(session_id, turn) WHERE archive IS NULL;
"""
