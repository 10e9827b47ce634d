"""Conversations, turns, index, segments, Working Memory, archives, queue and outbox: what the first version stored."""

SQL = """
CREATE TABLE conversations(
  session_id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  titled_by_user INTEGER NOT NULL DEFAULT 0,
  preview TEXT NOT NULL DEFAULT '',
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  turn_count INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  remember INTEGER NOT NULL DEFAULT 1,
  language TEXT NOT NULL DEFAULT '',
  draft TEXT NOT NULL DEFAULT '',
  pending_tokens INTEGER NOT NULL DEFAULT 0,
  live_tokens INTEGER NOT NULL DEFAULT 0,
  deleted_at REAL
) STRICT;

CREATE TABLE turns(
  turn INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  source_key TEXT UNIQUE,
  hook TEXT NOT NULL DEFAULT 'none' CHECK (hook IN ('none', 'pending', 'done')),
  similarity REAL,
  kept INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX turns_by_session ON turns(session_id, turn);
CREATE INDEX turns_waiting ON turns(turn) WHERE hook = 'pending';

CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  role TEXT NOT NULL,
  text TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at REAL NOT NULL,
  ended_at REAL,
  model TEXT,
  tokens_per_s REAL,
  error TEXT,
  note TEXT NOT NULL DEFAULT '',
  tokens INTEGER NOT NULL DEFAULT 0,
  archive INTEGER,
  UNIQUE(turn, role)
) STRICT;
CREATE INDEX messages_by_session ON messages(session_id, turn);
CREATE INDEX messages_unfinished ON messages(status) WHERE status IN ('waiting', 'streaming');

CREATE TABLE episodic(
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  ts REAL NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  cjk TEXT NOT NULL DEFAULT '',
  prev TEXT NOT NULL DEFAULT '',
  next TEXT NOT NULL DEFAULT '',
  lesson TEXT,
  tool_calls_json TEXT,
  cost_microdollars INTEGER NOT NULL DEFAULT 0,
  UNIQUE(turn, role)
) STRICT;
CREATE INDEX episodic_by_session ON episodic(session_id, turn);
CREATE VIRTUAL TABLE episodic_fts USING fts5(
  content, cjk, prev, next, lesson,
  content='episodic', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER episodic_added AFTER INSERT ON episodic BEGIN
  INSERT INTO episodic_fts(rowid, content, cjk, prev, next, lesson)
  VALUES (new.id, new.content, new.cjk, new.prev, new.next, new.lesson);
END;
CREATE TRIGGER episodic_removed AFTER DELETE ON episodic BEGIN
  INSERT INTO episodic_fts(episodic_fts, rowid, content, cjk, prev, next, lesson)
  VALUES ('delete', old.id, old.content, old.cjk, old.prev, old.next, old.lesson);
END;
CREATE TRIGGER episodic_changed AFTER UPDATE ON episodic BEGIN
  INSERT INTO episodic_fts(episodic_fts, rowid, content, cjk, prev, next, lesson)
  VALUES ('delete', old.id, old.content, old.cjk, old.prev, old.next, old.lesson);
  INSERT INTO episodic_fts(rowid, content, cjk, prev, next, lesson)
  VALUES (new.id, new.content, new.cjk, new.prev, new.next, new.lesson);
END;

CREATE TABLE signatures(
  id INTEGER PRIMARY KEY,
  signature TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE segments(
  segment_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  first_turn INTEGER NOT NULL,
  last_turn INTEGER,
  start_ts REAL NOT NULL,
  end_ts REAL,
  last_user_ts REAL NOT NULL,
  turn_count INTEGER NOT NULL,
  opened_by TEXT,
  gap_s REAL,
  closed_by TEXT,
  title TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
  summary_source TEXT NOT NULL DEFAULT '',
  centroid BLOB,
  vectors INTEGER NOT NULL DEFAULT 0,
  model TEXT,
  held_turn INTEGER,
  held_vector BLOB,
  before_turn INTEGER,
  before_end_ts REAL,
  before_user_ts REAL,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'summarised', 'stale')),
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL
) STRICT;
CREATE INDEX segments_by_session ON segments(session_id, first_turn);
CREATE UNIQUE INDEX segments_one_open ON segments(session_id) WHERE status = 'open';

CREATE TABLE outbox(
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  step TEXT NOT NULL,
  session_id TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try_at REAL NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until REAL NOT NULL DEFAULT 0,
  error TEXT,
  PRIMARY KEY(turn, step)
) STRICT;

CREATE TABLE memory_pending(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  section TEXT NOT NULL,
  text TEXT NOT NULL,
  replaces TEXT
) STRICT;
CREATE INDEX memory_pending_by_session ON memory_pending(session_id, id);

CREATE TABLE memory_versions(
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  version INTEGER NOT NULL,
  created_at REAL NOT NULL,
  cause TEXT NOT NULL,
  archive INTEGER,
  document TEXT NOT NULL,
  lines_json TEXT NOT NULL,
  asked_json TEXT NOT NULL,
  decisions_json TEXT NOT NULL,
  parked_json TEXT NOT NULL,
  PRIMARY KEY(session_id, version)
) STRICT;

CREATE TABLE archives(
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  number INTEGER NOT NULL,
  created_at REAL NOT NULL,
  cause TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
  error TEXT,
  PRIMARY KEY(session_id, number)
) STRICT;

CREATE TABLE jobs(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  payload_json TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try_at REAL NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until REAL NOT NULL DEFAULT 0,
  error TEXT
) STRICT;

CREATE TABLE file_changes(
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  file TEXT NOT NULL,
  at REAL NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT NOT NULL,
  turns_json TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  undoes INTEGER
) STRICT;
CREATE INDEX file_changes_by_file ON file_changes(workspace, file, id);
"""
