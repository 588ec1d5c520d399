-- The first schema. Conventions:
--   no          row number, small and private to the file; everything inside the file refers to it
--   id          the public identifier, kept once
--   *_at, valid_*, at   microseconds since 1970-01-01 UTC
--   length      number of terms in the keyword index, for ranking; 0 for what is not in it
--   changed     the scope's change counter when the row (or its vectors) last changed; caches read on from there

-- What belongs to the whole file: the key of the ledger's content hashes, and this device's name.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- epoch grows when what is current changes; changes grows with every change at all.
CREATE TABLE scopes (
    no INTEGER PRIMARY KEY,
    app_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_id, app_id, agent_id)
);

-- Verbatim sources.
CREATE TABLE evidence (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope INTEGER NOT NULL REFERENCES scopes (no),
    origin TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT,
    speaker TEXT NOT NULL,
    name TEXT,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    preceding TEXT,
    local INTEGER NOT NULL,
    cloud INTEGER NOT NULL,
    infer INTEGER NOT NULL,
    status TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    metadata TEXT, -- JSON
    length INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL,
    UNIQUE (scope, origin)
);
CREATE INDEX evidence_by_change ON evidence (scope, changed);
CREATE INDEX evidence_by_session ON evidence (scope, session_id, occurred_at);

-- Evidence from which memories have been formed.
CREATE TABLE formed (
    evidence INTEGER PRIMARY KEY REFERENCES evidence (no)
);

-- Versions.
CREATE TABLE memories (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope INTEGER NOT NULL REFERENCES scopes (no),
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    subject TEXT NOT NULL,
    attribute TEXT,
    value TEXT,
    polarity TEXT NOT NULL,
    qualifiers TEXT, -- JSON
    memory_at INTEGER NOT NULL,
    occurred_at INTEGER,
    time_expression TEXT,
    valid_from INTEGER NOT NULL,
    valid_until INTEGER,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    muted_at INTEGER,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    formed_by TEXT NOT NULL,
    workspace_id TEXT,
    branch TEXT,
    boundary_scope TEXT,
    action TEXT NOT NULL, -- of the decision that formed it, as are the next five
    reason TEXT NOT NULL,
    confidence REAL NOT NULL,
    extractor TEXT NOT NULL,
    judge TEXT NOT NULL,
    targets TEXT, -- JSON list of memory ids
    extra TEXT, -- JSON
    length INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL
);
CREATE INDEX memories_by_change ON memories (scope, changed);
CREATE INDEX memories_by_time ON memories (scope, recorded_at);
CREATE INDEX current_memories_by_attribute ON memories (scope, subject, attribute)
WHERE state = 'current' AND attribute IS NOT NULL;

-- The spans of evidence a memory rests on, in order.
CREATE TABLE sources (
    memory INTEGER NOT NULL REFERENCES memories (no),
    position INTEGER NOT NULL,
    evidence INTEGER NOT NULL REFERENCES evidence (no),
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    said_at INTEGER NOT NULL,
    PRIMARY KEY (memory, position)
) WITHOUT ROWID;
CREATE INDEX sources_by_evidence ON sources (evidence);

-- Both directions of every link, each list in order.
CREATE TABLE links (
    memory INTEGER NOT NULL REFERENCES memories (no),
    relation TEXT NOT NULL,
    position INTEGER NOT NULL,
    other INTEGER NOT NULL REFERENCES memories (no),
    PRIMARY KEY (memory, relation, position)
) WITHOUT ROWID;

-- What the mutable fields of a memory became with each revision.
CREATE TABLE transitions (
    memory INTEGER NOT NULL REFERENCES memories (no),
    revision INTEGER NOT NULL,
    state TEXT NOT NULL,
    valid_until INTEGER,
    muted_at INTEGER,
    at INTEGER NOT NULL,
    cause TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    PRIMARY KEY (memory, revision)
) WITHOUT ROWID;

-- Every plan carried out, with the ledger's sequence of its last line.
CREATE TABLE plans (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL
) WITHOUT ROWID;

-- The callers' own idempotency keys; outcome (JSON) is NULL while a request is unfinished.
CREATE TABLE requests (
    scope INTEGER NOT NULL REFERENCES scopes (no),
    id TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    outcome TEXT,
    plan_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE INDEX requests_by_expiry ON requests (expires_at);

-- Who may write to a scope alone, until when.
CREATE TABLE locks (
    scope INTEGER PRIMARY KEY REFERENCES scopes (no),
    token TEXT NOT NULL,
    expires_at INTEGER NOT NULL
);

-- What was done, in order, without a word of anybody's text: contents appear as keyed hashes only.
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    origin_device TEXT NOT NULL,
    origin_seq INTEGER NOT NULL,
    clock TEXT NOT NULL, -- JSON vector: device to its highest sequence known here
    plan_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    record_id TEXT,
    content_hash BLOB,
    at INTEGER NOT NULL
);
CREATE TRIGGER ledger_lines_stay BEFORE UPDATE ON ledger
BEGIN
    SELECT raise(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_lines_last BEFORE DELETE ON ledger
BEGIN
    SELECT raise(ABORT, 'the ledger is append-only');
END;

-- Embedding models met so far; vectors of different models are never compared.
CREATE TABLE models (
    no INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
);

-- The windows of a record's text: spans holds their character ranges (pairs of little-endian int32), data their
-- vectors one after the other (little-endian float32, L2-normalised).
CREATE TABLE memory_vectors (
    record INTEGER PRIMARY KEY REFERENCES memories (no),
    model INTEGER NOT NULL REFERENCES models (no),
    spans BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE evidence_vectors (
    record INTEGER PRIMARY KEY REFERENCES evidence (no),
    model INTEGER NOT NULL REFERENCES models (no),
    spans BLOB NOT NULL,
    data BLOB NOT NULL
);

-- Keyword indexes; rowid is the record's no. The terms are made by domain.text.terms, so words need no language-aware
-- tokenizer here. Each term carries a mark of its scope, so that a scope's lists are its own. Scores are made from which
-- records a term occurs in, so nothing else is kept.
CREATE VIRTUAL TABLE memory_words USING fts5 (words, content = '', detail = none, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE evidence_words USING fts5 (words, content = '', detail = none, tokenize = 'porter unicode61');
