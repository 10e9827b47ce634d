"""What is known of the user: events, facets with evidence and history, tombstones, and a log of what changed.

A facet's evidence names turns; the segments that count are those the turns lie in when it is read, so that
merging and splitting segments by hand needs no work here. Evidence of a former value carries its number. What
rests on a turn alone goes with it.
"""

SQL = """
CREATE TABLE events(
  event_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
  segment_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('decision', 'commitment', 'preference', 'fact')),
  text TEXT NOT NULL,
  key TEXT NOT NULL,
  negative INTEGER NOT NULL,
  confidence REAL NOT NULL,
  subject TEXT NOT NULL,
  due TEXT,
  rule TEXT NOT NULL,
  first_turn INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events(session_id, first_turn);
CREATE INDEX events_by_segment ON events(segment_id, kind, key);

CREATE TABLE event_turns(
  event_id TEXT NOT NULL REFERENCES events ON DELETE CASCADE,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  PRIMARY KEY(event_id, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_turns_by_turn ON event_turns(turn);
CREATE TRIGGER event_without_turns AFTER DELETE ON event_turns BEGIN
  DELETE FROM profile_changes WHERE item_id = old.event_id;
  DELETE FROM events WHERE event_id = old.event_id
    AND NOT EXISTS (SELECT 1 FROM event_turns WHERE event_id = old.event_id);
END;

CREATE TABLE events_read(
  turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
  digest TEXT NOT NULL
) STRICT;

CREATE TABLE facets(
  facet_id TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  attribute TEXT NOT NULL,
  object TEXT NOT NULL,
  context TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('preference', 'fact')),
  class TEXT NOT NULL,
  value TEXT NOT NULL,
  compared TEXT NOT NULL,
  negative INTEGER NOT NULL,
  confidence REAL NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('inferred', 'stated', 'explicit', 'user')),
  pinned INTEGER NOT NULL DEFAULT 0,
  since REAL NOT NULL,
  last_at REAL NOT NULL,
  ended_at REAL
) STRICT;
CREATE INDEX facets_by_slot ON facets(subject, attribute, object);

CREATE TABLE facet_history(
  id INTEGER PRIMARY KEY,
  facet_id TEXT NOT NULL REFERENCES facets ON DELETE CASCADE,
  value TEXT NOT NULL,
  compared TEXT NOT NULL,
  negative INTEGER NOT NULL,
  confidence REAL NOT NULL,
  origin TEXT NOT NULL,
  since REAL NOT NULL,
  until REAL NOT NULL
) STRICT;
CREATE INDEX facet_history_by_facet ON facet_history(facet_id, until);

CREATE TABLE facet_evidence(
  id INTEGER PRIMARY KEY,
  facet_id TEXT NOT NULL REFERENCES facets ON DELETE CASCADE,
  former INTEGER REFERENCES facet_history ON DELETE CASCADE,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  at REAL NOT NULL
) STRICT;
CREATE INDEX facet_evidence_by_facet ON facet_evidence(facet_id, former);
CREATE INDEX facet_evidence_by_former ON facet_evidence(former);
CREATE INDEX facet_evidence_by_turn ON facet_evidence(turn);
CREATE TRIGGER facet_without_evidence AFTER DELETE ON facet_evidence BEGIN
  DELETE FROM profile_changes WHERE item_id = old.facet_id;
  DELETE FROM facet_history WHERE id = old.former
    AND NOT EXISTS (SELECT 1 FROM facet_evidence WHERE former = old.former);
  DELETE FROM facets WHERE facet_id = old.facet_id AND origin <> 'user' AND old.former IS NULL
    AND NOT EXISTS (SELECT 1 FROM facet_evidence WHERE facet_id = old.facet_id AND former IS NULL);
END;

CREATE TABLE facet_contradictions(
  id INTEGER PRIMARY KEY,
  facet_id TEXT NOT NULL REFERENCES facets ON DELETE CASCADE,
  value TEXT NOT NULL,
  compared TEXT NOT NULL,
  negative INTEGER NOT NULL,
  confidence REAL NOT NULL,
  origin TEXT NOT NULL,
  turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
  at REAL NOT NULL,
  UNIQUE(facet_id, turn, compared, negative)
) STRICT;
CREATE INDEX facet_contradictions_by_turn ON facet_contradictions(turn);

CREATE TABLE tombstones(
  hash TEXT PRIMARY KEY,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_changes(
  id INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('add', 'update', 'retire')),
  kind TEXT NOT NULL CHECK (kind IN ('event', 'facet')),
  item_id TEXT NOT NULL,
  before TEXT,
  after TEXT,
  turn INTEGER REFERENCES turns ON DELETE CASCADE
) STRICT;
CREATE INDEX profile_changes_by_turn ON profile_changes(turn);
CREATE INDEX profile_changes_by_item ON profile_changes(item_id);
"""
