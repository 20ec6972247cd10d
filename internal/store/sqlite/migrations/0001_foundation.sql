CREATE TABLE workspaces (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A revoked key stays, so that its hash cannot come back as a bootstrap key.
CREATE TABLE keys (
    id           TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_live ON keys (workspace_id, id) WHERE revoked_at IS NULL;

-- Answers kept for requests with an Idempotency-Key.
CREATE TABLE once (
    workspace_id TEXT NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  BLOB NOT NULL,
    answer       BLOB NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX once_expiry ON once (expires_at);

-- The sealed keyset of the vault; at most one row.
CREATE TABLE vault (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    keyset   BLOB NOT NULL
) STRICT;
