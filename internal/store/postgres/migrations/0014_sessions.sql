-- People in browsers, each with an API key. token and former are hashes.
CREATE TABLE sessions (
    id           text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    key_id       text COLLATE "C" NOT NULL,
    token        bytea NOT NULL UNIQUE,
    former       bytea NOT NULL,
    created_at   timestamptz NOT NULL,
    rotated_at   timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL
);

CREATE INDEX sessions_former ON sessions (former);
CREATE INDEX sessions_created_at ON sessions (created_at);
