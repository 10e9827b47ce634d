"""Vectors of whatever can be found by meaning, a row an item and model; what was recalled into a prompt.

An item lives as long as what it was made from, and its vectors as long as the item: one deletion reaches all.
`code` is a vector around its model's mean, a bit a number: 48 bytes that are compared before the vector itself is.
"""

SQL = """
DROP TABLE IF EXISTS vectors_1;
DROP TABLE IF EXISTS vectors_2;
DELETE FROM signatures;
ALTER TABLE signatures ADD COLUMN complete INTEGER NOT NULL DEFAULT 0;

CREATE TABLE vector_items(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'sentence', 'recap', 'event')),
  ref TEXT NOT NULL,
  part INTEGER NOT NULL DEFAULT 0,
  start INTEGER NOT NULL DEFAULT 0,
  length INTEGER NOT NULL DEFAULT 0,
  split INTEGER NOT NULL DEFAULT 0,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  UNIQUE(kind, ref, part)
) STRICT;
CREATE INDEX vector_items_by_session ON vector_items(session_id);
CREATE INDEX vector_items_unsplit ON vector_items(id) WHERE kind = 'message' AND NOT split;

CREATE TABLE vector_codes(
  signature INTEGER NOT NULL REFERENCES signatures ON DELETE CASCADE,
  item INTEGER NOT NULL REFERENCES vector_items ON DELETE CASCADE,
  code BLOB NOT NULL,
  PRIMARY KEY(item, signature)
) STRICT, WITHOUT ROWID;
CREATE TABLE vectors(
  signature INTEGER NOT NULL REFERENCES signatures ON DELETE CASCADE,
  item INTEGER NOT NULL REFERENCES vector_items ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_by_item ON vectors(item, signature);

INSERT INTO vector_items(kind, ref, session_id) SELECT 'message', id, session_id FROM episodic ORDER BY id;
INSERT INTO vector_items(kind, ref, session_id)
  SELECT 'recap', segment_id, session_id FROM segments
  WHERE status = 'summarised' AND summary <> '' ORDER BY first_turn;

CREATE TRIGGER vector_message_added AFTER INSERT ON episodic BEGIN
  INSERT INTO vector_items(kind, ref, session_id) VALUES ('message', new.id, new.session_id);
END;
CREATE TRIGGER vector_message_removed AFTER DELETE ON episodic BEGIN
  DELETE FROM vector_items WHERE kind IN ('message', 'sentence') AND ref = CAST(old.id AS TEXT);
END;
CREATE TRIGGER vector_message_changed AFTER UPDATE OF content ON episodic WHEN old.content <> new.content BEGIN
  DELETE FROM vector_items WHERE kind IN ('message', 'sentence') AND ref = CAST(old.id AS TEXT);
  INSERT INTO vector_items(kind, ref, session_id) VALUES ('message', new.id, new.session_id);
END;
CREATE TRIGGER vector_recap_changed AFTER UPDATE OF summary, status ON segments
WHEN old.summary <> new.summary OR old.status <> new.status BEGIN
  DELETE FROM vector_items WHERE kind = 'recap' AND ref = old.segment_id
    AND (old.summary <> new.summary OR new.status <> 'summarised');
  INSERT INTO vector_items(kind, ref, session_id)
    SELECT 'recap', new.segment_id, new.session_id WHERE new.status = 'summarised' AND new.summary <> ''
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER vector_recap_removed AFTER DELETE ON segments BEGIN
  DELETE FROM vector_items WHERE kind = 'recap' AND ref = old.segment_id;
END;

CREATE VIRTUAL TABLE episodic_words USING fts5vocab('episodic_fts', 'row');

CREATE TABLE recalls(
  turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  at REAL NOT NULL,
  block TEXT NOT NULL,
  items_json TEXT NOT NULL
) STRICT;
CREATE INDEX recalls_by_session ON recalls(session_id, turn);
"""
