"""Archives whose document, extraction and files are done or fail each for itself; versions stored compressed.

A number whose folder a crash left before the commit point is kept as `discarded`, so that it is never used again.
`packed` holds a version's document, lines, operations, decisions and parked list; rows of older stores keep theirs
in the columns beside it.
"""

SQL = """
CREATE TABLE archives_in_stages(
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  number INTEGER NOT NULL,
  created_at REAL NOT NULL,
  cause TEXT NOT NULL,
  keep INTEGER NOT NULL DEFAULT 10,
  kept_json TEXT NOT NULL DEFAULT '[]',
  copied_json TEXT NOT NULL DEFAULT '[]',
  first_turn INTEGER NOT NULL DEFAULT 0,
  last_turn INTEGER NOT NULL DEFAULT 0,
  version INTEGER,
  changes_json TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed', 'discarded')),
  PRIMARY KEY(session_id, number)
) STRICT;
INSERT INTO archives_in_stages(
  session_id, number, created_at, cause, first_turn, last_turn, version, changes_json, state)
SELECT a.session_id, a.number, a.created_at, a.cause,
  (SELECT coalesce(min(turn), 0) FROM messages m WHERE m.session_id = a.session_id AND m.archive = a.number),
  (SELECT coalesce(max(turn), 0) FROM messages m WHERE m.session_id = a.session_id AND m.archive = a.number),
  (SELECT max(version) FROM memory_versions v WHERE v.session_id = a.session_id AND v.archive = a.number),
  CASE a.state WHEN 'done' THEN '[]' END, CASE a.state WHEN 'failed' THEN 'pending' ELSE a.state END
FROM archives a;
DROP TABLE archives;
ALTER TABLE archives_in_stages RENAME TO archives;
CREATE INDEX archives_unfinished ON archives(session_id, number) WHERE state IN ('pending', 'failed');

CREATE TABLE archive_failures(
  session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('memory', 'extraction', 'files')),
  attempts INTEGER NOT NULL,
  error TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY(session_id, number, stage),
  FOREIGN KEY(session_id, number) REFERENCES archives ON DELETE CASCADE
) STRICT;

ALTER TABLE jobs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_versions ADD COLUMN packed BLOB;
ALTER TABLE memory_versions ADD COLUMN mode TEXT NOT NULL DEFAULT 'heuristics';
"""
