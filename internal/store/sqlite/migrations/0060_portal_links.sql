-- Links that open the portal of a workspace once, each with the session that it started. Their
-- secrets are only known as hashes; a link without a session has a hash of zeros.
CREATE TABLE portal_links (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    key_id       TEXT NOT NULL,
    link         BLOB NOT NULL UNIQUE,
    session      BLOB NOT NULL,
    pages        TEXT NOT NULL,
    access       TEXT NOT NULL,
    return_url   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    opened_at    INTEGER,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX portal_links_session ON portal_links (session) WHERE opened_at IS NOT NULL;
CREATE INDEX portal_links_expiry ON portal_links (expires_at);
