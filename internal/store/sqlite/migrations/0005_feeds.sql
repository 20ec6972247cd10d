-- What was there before of feeds was never filled.
DROP TABLE feeds;

-- Lists of columns, warnings and keys, and errors, are JSON text.
CREATE TABLE feeds (
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
    id              TEXT NOT NULL,
    source_id       TEXT NOT NULL,
    name            TEXT NOT NULL,
    description     TEXT NOT NULL,
    type            TEXT NOT NULL,
    state           TEXT NOT NULL,
    version         INTEGER NOT NULL, -- the current one; 0 where there is none
    columns         TEXT NOT NULL,
    row_count       INTEGER NOT NULL,
    byte_size       INTEGER NOT NULL,
    content_hash    TEXT NOT NULL,
    warnings        TEXT NOT NULL,
    mode            TEXT NOT NULL,
    key             TEXT NOT NULL,
    spec            BLOB,
    next_refresh_at INTEGER,
    last_refresh_id TEXT NOT NULL,
    last_error      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

-- A version stays when its feed is deleted, until its files may go.
CREATE TABLE feed_versions (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    number       INTEGER NOT NULL,
    columns      TEXT NOT NULL,
    row_count    INTEGER NOT NULL,
    byte_size    INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    warnings     TEXT NOT NULL,
    file         TEXT NOT NULL,
    original     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    stale_at     INTEGER, -- when it need not be kept any more; NULL while that is not known
    PRIMARY KEY (workspace_id, feed_id, number)
) STRICT;

CREATE INDEX feed_versions_stale ON feed_versions (stale_at) WHERE stale_at IS NOT NULL;
CREATE INDEX feed_versions_file ON feed_versions (file);
CREATE INDEX feed_versions_original ON feed_versions (original);

CREATE TABLE refreshes (
    workspace_id  TEXT NOT NULL,
    feed_id       TEXT NOT NULL,
    id            TEXT NOT NULL,
    state         TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    bytes_in      INTEGER NOT NULL,
    rows_in       INTEGER NOT NULL,
    rows_stored   INTEGER NOT NULL,
    rows_rejected INTEGER NOT NULL,
    rejects       TEXT NOT NULL,
    version       INTEGER NOT NULL,
    warnings      TEXT NOT NULL,
    error         TEXT NOT NULL,
    superseded    INTEGER NOT NULL, -- it is not the last one of a feed that is there
    PRIMARY KEY (workspace_id, feed_id, id)
) STRICT;

CREATE INDEX refreshes_superseded ON refreshes (id) WHERE superseded = 1;
CREATE INDEX refreshes_rejects ON refreshes (rejects);
