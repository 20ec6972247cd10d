CREATE TABLE workspaces (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL
);

-- A revoked key stays, so that its hash cannot come back as a bootstrap key.
CREATE TABLE keys (
    id           text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name         text NOT NULL,
    scopes       text NOT NULL,
    hash         bytea NOT NULL UNIQUE,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
);

CREATE INDEX keys_live ON keys (workspace_id, id) WHERE revoked_at IS NULL;

-- Answers kept for requests with an Idempotency-Key.
CREATE TABLE once (
    workspace_id text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    fingerprint  bytea NOT NULL,
    answer       bytea NOT NULL,
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, key)
);

CREATE INDEX once_expiry ON once (expires_at);

-- The sealed keyset of the vault; at most one row.
CREATE TABLE vault (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    keyset   bytea NOT NULL
);
