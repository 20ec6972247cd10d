-- The databases that queries run on. The sources of feeds of type queryBuilder
-- have the id of theirs as host.
CREATE TABLE connections (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    service_name TEXT NOT NULL,
    connector    TEXT NOT NULL,
    config       BLOB NOT NULL, -- JSON text without secrets
    secrets      BLOB NOT NULL, -- sealed
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

CREATE UNIQUE INDEX connections_service ON connections (workspace_id, service_name);
