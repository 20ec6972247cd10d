-- Links that open the portal of a workspace once, each with the session that it started. Their
-- secrets are only known as hashes; a link without a session has a hash of zeros.
CREATE TABLE portal_links (
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id           text COLLATE "C" NOT NULL,
    key_id       text COLLATE "C" NOT NULL,
    link         bytea NOT NULL UNIQUE,
    session      bytea NOT NULL,
    pages        text NOT NULL,
    access       text COLLATE "C" NOT NULL,
    return_url   text NOT NULL,
    created_at   timestamptz NOT NULL,
    opened_at    timestamptz,
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX portal_links_session ON portal_links (session) WHERE opened_at IS NOT NULL;
CREATE INDEX portal_links_expiry ON portal_links (expires_at);
