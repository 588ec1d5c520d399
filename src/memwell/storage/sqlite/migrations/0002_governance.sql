-- What governing needs: when permissions were changed, what a reply was made from, what was erased, and receipts.

ALTER TABLE evidence ADD COLUMN permitted_at INTEGER;

-- Assistants' words and evidence that keeps some: where copies of erased words are looked for.
CREATE INDEX context_evidence ON evidence (scope) WHERE speaker = 'assistant' OR preceding IS NOT NULL;

-- Evidence stored lately, which may still be in work.
CREATE INDEX evidence_by_time ON evidence (scope, recorded_at);

-- What a reply was declared to be made from: ids of memories and of evidence.
CREATE TABLE dependencies (
    evidence INTEGER NOT NULL REFERENCES evidence (no),
    position INTEGER NOT NULL,
    on_id TEXT NOT NULL,
    PRIMARY KEY (evidence, position)
) WITHOUT ROWID;
CREATE INDEX dependencies_by_id ON dependencies (on_id);

-- The links of derived memories from the other end, which other links have rows of their own for.
CREATE INDEX links_to_parents ON links (other) WHERE relation = 'derived_from';

-- Keys of the hashes in tombstones: this file's own, and those that imported tombstones were made with.
CREATE TABLE hash_keys (
    no INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE
);

-- What was erased, by keyed hashes of where it came from; spans (JSON pairs) where only parts were blacked out.
CREATE TABLE tombstones (
    record_id TEXT PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scopes (no),
    unit TEXT NOT NULL,
    at INTEGER NOT NULL,
    spans TEXT,
    origin_hash BLOB,
    replay_hash BLOB,
    hash_key INTEGER REFERENCES hash_keys (no)
) WITHOUT ROWID;
CREATE INDEX tombstones_by_origin ON tombstones (scope, origin_hash) WHERE origin_hash IS NOT NULL;
CREATE INDEX tombstones_by_replay ON tombstones (scope, replay_hash) WHERE replay_hash IS NOT NULL;

-- One receipt per command; body is JSON without user text, input_hash a hash of what was asked, made with hash_key.
CREATE TABLE receipts (
    scope INTEGER NOT NULL REFERENCES scopes (no),
    command_id TEXT NOT NULL,
    body TEXT NOT NULL,
    input_hash BLOB NOT NULL,
    hash_key INTEGER NOT NULL REFERENCES hash_keys (no),
    PRIMARY KEY (scope, command_id)
) WITHOUT ROWID;
CREATE TRIGGER receipts_stay BEFORE UPDATE ON receipts
BEGIN
    SELECT raise(ABORT, 'receipts are never changed');
END;
CREATE TRIGGER receipts_last BEFORE DELETE ON receipts
BEGIN
    SELECT raise(ABORT, 'receipts are never deleted');
END;
