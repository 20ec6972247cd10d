-- Connections that were there before what databases say was masked: errors that are
-- stored may contain their secrets. The vault is needed to find them, so the server does
-- that, and removes the row.
CREATE TABLE unmasked_connections (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, id) REFERENCES connections (workspace_id, id) ON DELETE CASCADE
) STRICT;

INSERT INTO unmasked_connections SELECT workspace_id, id FROM connections;
