"""What becomes of a closed segment: recap, retries, changes by hand; and the memory tree.

A segment's `revision` counts what changed in it after it closed; `finalised` is the revision whose work was
queued. Both the close and each change queue that work in their own transaction, whoever makes them.
`tree_chunks` without a parent wait in the buffer of level 0, `tree_nodes` without one in that of their level.
A chunk that goes takes the words of every node above it along at once; the nodes are made again by a job.
"""

SQL = """
ALTER TABLE segments ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN finalised INTEGER NOT NULL DEFAULT -1;
ALTER TABLE segments ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN next_try_at REAL;
ALTER TABLE segments ADD COLUMN summary_error TEXT NOT NULL DEFAULT '';
ALTER TABLE segments ADD COLUMN summary_model TEXT;
ALTER TABLE segments ADD COLUMN keywords TEXT NOT NULL DEFAULT '';
ALTER TABLE segments ADD COLUMN titled_by_user INTEGER NOT NULL DEFAULT 0;
CREATE INDEX segments_without_recap ON segments(updated_at) WHERE status IN ('closed', 'stale');
CREATE INDEX segments_unfinalised ON segments(segment_id) WHERE status <> 'open' AND finalised < revision;

CREATE TRIGGER segment_to_finalise AFTER UPDATE OF status, revision ON segments
WHEN new.status IN ('closed', 'stale') AND (old.status = 'open' OR new.revision <> old.revision) BEGIN
  INSERT INTO jobs(kind, key, session_id, payload_json, lane, created_at)
  SELECT 'finalise', 'finalise:' || new.segment_id || ':' || new.revision, new.session_id,
    json_object('segment', new.segment_id, 'revision', new.revision), 'slow', new.updated_at
  WHERE EXISTS (SELECT 1 FROM conversations WHERE session_id = new.session_id)
  ON CONFLICT(key) DO NOTHING;
END;
CREATE TRIGGER segment_stale_by_change AFTER UPDATE OF content ON episodic WHEN new.content <> old.content BEGIN
  UPDATE segments SET status = 'stale', revision = revision + 1
  WHERE status <> 'open' AND coalesce(last_turn, first_turn) >= new.turn AND segment_id = (
    SELECT segment_id FROM segments WHERE session_id = new.session_id AND first_turn <= new.turn
    ORDER BY first_turn DESC LIMIT 1);
END;
CREATE TRIGGER segment_stale_by_reply AFTER INSERT ON episodic WHEN new.role <> 'user' BEGIN
  UPDATE segments SET status = 'stale', revision = revision + 1
  WHERE status <> 'open' AND coalesce(last_turn, first_turn) >= new.turn AND segment_id = (
    SELECT segment_id FROM segments WHERE session_id = new.session_id AND first_turn <= new.turn
    ORDER BY first_turn DESC LIMIT 1);
END;
CREATE TRIGGER segment_stale_by_removal AFTER DELETE ON episodic BEGIN
  UPDATE segments SET status = 'stale', revision = revision + 1
  WHERE status <> 'open' AND coalesce(last_turn, first_turn) >= old.turn AND segment_id = (
    SELECT segment_id FROM segments WHERE session_id = old.session_id AND first_turn <= old.turn
    ORDER BY first_turn DESC LIMIT 1);
END;

CREATE TABLE segment_edits(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  at REAL NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('merge', 'split', 'rename')),
  before_json TEXT NOT NULL,
  after_json TEXT NOT NULL,
  undone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX segment_edits_by_session ON segment_edits(session_id, id);

CREATE TABLE tree_nodes(
  node_id TEXT PRIMARY KEY,
  level INTEGER NOT NULL CHECK (level > 0),
  parent TEXT REFERENCES tree_nodes ON DELETE SET NULL,
  started_at REAL NOT NULL,
  ended_at REAL NOT NULL,
  items INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  summary TEXT NOT NULL,
  summary_source TEXT NOT NULL,
  made_at REAL NOT NULL,
  stale INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try_at REAL
) STRICT;
CREATE INDEX tree_nodes_buffer ON tree_nodes(level, made_at) WHERE parent IS NULL;
CREATE INDEX tree_nodes_by_parent ON tree_nodes(parent);
CREATE INDEX tree_nodes_stale ON tree_nodes(level) WHERE stale;

CREATE TABLE tree_chunks(
  chunk_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  segment_id TEXT NOT NULL REFERENCES segments ON DELETE CASCADE,
  place INTEGER NOT NULL,
  first_turn INTEGER NOT NULL,
  last_turn INTEGER NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL NOT NULL,
  tokens INTEGER NOT NULL,
  partial INTEGER NOT NULL,
  messages_json TEXT NOT NULL,
  parent TEXT REFERENCES tree_nodes ON DELETE SET NULL,
  added_at REAL NOT NULL
) STRICT;
CREATE INDEX tree_chunks_by_segment ON tree_chunks(segment_id, place);
CREATE INDEX tree_chunks_by_session ON tree_chunks(session_id, first_turn);
CREATE INDEX tree_chunks_by_parent ON tree_chunks(parent);
CREATE INDEX tree_chunks_by_time ON tree_chunks(started_at);
CREATE INDEX tree_chunks_buffer ON tree_chunks(added_at) WHERE parent IS NULL;

CREATE TABLE tree_unlinks(name TEXT PRIMARY KEY) STRICT;
CREATE TRIGGER tree_chunk_removed AFTER DELETE ON tree_chunks BEGIN
  INSERT INTO tree_unlinks(name) VALUES ('chunks/' || old.chunk_id) ON CONFLICT DO NOTHING;
  UPDATE tree_nodes SET stale = 1, summary = '', summary_source = 'heuristic' WHERE node_id IN (
    WITH RECURSIVE above(id) AS (
      SELECT old.parent UNION SELECT n.parent FROM tree_nodes n JOIN above ON n.node_id = above.id
      WHERE n.parent IS NOT NULL)
    SELECT id FROM above);
END;
CREATE TRIGGER tree_node_removed AFTER DELETE ON tree_nodes BEGIN
  INSERT INTO tree_unlinks(name) VALUES ('summaries/' || old.node_id) ON CONFLICT DO NOTHING;
END;
"""
