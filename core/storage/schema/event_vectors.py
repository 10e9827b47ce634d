"""Events as items that can be found by meaning."""

SQL = """
INSERT INTO vector_items(kind, ref, session_id) SELECT 'event', event_id, session_id FROM events ORDER BY first_turn;
CREATE TRIGGER vector_event_added AFTER INSERT ON events BEGIN
  INSERT INTO vector_items(kind, ref, session_id) VALUES ('event', new.event_id, new.session_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER vector_event_changed AFTER UPDATE OF text ON events WHEN old.text <> new.text BEGIN
  DELETE FROM vector_items WHERE kind = 'event' AND ref = old.event_id;
  INSERT INTO vector_items(kind, ref, session_id) VALUES ('event', new.event_id, new.session_id);
END;
CREATE TRIGGER vector_event_removed AFTER DELETE ON events BEGIN
  DELETE FROM vector_items WHERE kind = 'event' AND ref = old.event_id;
END;
"""
