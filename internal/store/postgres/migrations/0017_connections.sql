-- The databases that queries run on. The sources of feeds of type queryBuilder
-- have the id of theirs as host.
CREATE TABLE connections (
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id           text COLLATE "C" NOT NULL,
    service_name text COLLATE "C" NOT NULL,
    connector    text NOT NULL,
    config       bytea NOT NULL, -- JSON text without secrets
    secrets      bytea NOT NULL, -- sealed
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX connections_service ON connections (workspace_id, service_name);
