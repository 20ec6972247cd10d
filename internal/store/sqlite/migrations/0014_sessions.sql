-- People in browsers, each with an API key. token and former are hashes.
CREATE TABLE sessions (
    id           TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    key_id       TEXT NOT NULL,
    token        BLOB NOT NULL UNIQUE,
    former       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    rotated_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_former ON sessions (former);
CREATE INDEX sessions_created_at ON sessions (created_at);
