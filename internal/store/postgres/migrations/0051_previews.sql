-- The uploads that previews keep for the requests that follow.
CREATE TABLE previews (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    owner        text NOT NULL,
    content_type text NOT NULL,
    disposition  text NOT NULL,
    file         text COLLATE "C" NOT NULL,
    bytes        bigint NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE UNIQUE INDEX previews_file ON previews (file);
CREATE INDEX previews_expiry ON previews (expires_at);
