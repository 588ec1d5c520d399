-- Formation as durable jobs, the answers of models that they have, and the account book of model calls.

-- Memories to be formed from stored evidence. A claim is proved by its token and holds until lease_until.
CREATE TABLE jobs (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope INTEGER NOT NULL REFERENCES scopes (no),
    session_id TEXT NOT NULL,
    evidence TEXT NOT NULL, -- JSON list of evidence ids
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    request_id TEXT,
    input_hash TEXT,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    refunds INTEGER NOT NULL,
    owner TEXT,
    token TEXT,
    lease_until INTEGER,
    error TEXT
);
CREATE INDEX open_jobs ON jobs (state, due_at) WHERE state <> 'done';
CREATE INDEX open_jobs_by_scope ON jobs (scope) WHERE state <> 'done';
CREATE INDEX done_jobs ON jobs (created_at) WHERE state = 'done';

-- Answers that a job has, by the digest of what was asked; answer is NULL while only the right to ask is taken.
CREATE TABLE notes (
    job INTEGER NOT NULL REFERENCES jobs (no),
    key TEXT NOT NULL,
    answer TEXT,
    PRIMARY KEY (job, key)
) WITHOUT ROWID;

-- One row for each call of a model endpoint; scope is NULL where it is on no user's account.
CREATE TABLE calls (
    no INTEGER PRIMARY KEY,
    scope INTEGER REFERENCES scopes (no),
    day INTEGER NOT NULL, -- days since 1970-01-01 UTC
    at INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    seconds REAL NOT NULL,
    outcome TEXT NOT NULL
);
CREATE INDEX calls_by_scope ON calls (scope, day);
