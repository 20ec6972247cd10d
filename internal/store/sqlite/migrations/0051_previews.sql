-- The uploads that previews keep for the requests that follow.
CREATE TABLE previews (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    owner        TEXT NOT NULL,
    content_type TEXT NOT NULL,
    disposition  TEXT NOT NULL,
    file         TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX previews_file ON previews (file);
CREATE INDEX previews_expiry ON previews (expires_at);
