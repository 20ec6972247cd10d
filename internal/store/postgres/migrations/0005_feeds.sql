-- What was there before of feeds was never filled.
DROP TABLE feed_sources;

-- Lists of columns, warnings and keys, and errors, are JSON text; jsonb would
-- refuse what a file can hold.
CREATE TABLE feeds (
    workspace_id    text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id              text COLLATE "C" NOT NULL,
    source_id       text COLLATE "C" NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL,
    type            text NOT NULL,
    state           text NOT NULL,
    version         bigint NOT NULL, -- the current one; 0 where there is none
    columns         text NOT NULL,
    row_count       bigint NOT NULL,
    byte_size       bigint NOT NULL,
    content_hash    text NOT NULL,
    warnings        text NOT NULL,
    mode            text NOT NULL,
    key             text NOT NULL,
    spec            bytea,
    next_refresh_at timestamptz,
    last_refresh_id text COLLATE "C" NOT NULL,
    last_error      text NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

-- A version stays when its feed is deleted, until its files may go.
CREATE TABLE feed_versions (
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL,
    number       bigint NOT NULL,
    columns      text NOT NULL,
    row_count    bigint NOT NULL,
    byte_size    bigint NOT NULL,
    content_hash text NOT NULL,
    warnings     text NOT NULL,
    file         text COLLATE "C" NOT NULL,
    original     text COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL,
    stale_at     timestamptz, -- when it need not be kept any more; NULL while that is not known
    PRIMARY KEY (workspace_id, feed_id, number)
);

CREATE INDEX feed_versions_stale ON feed_versions (stale_at) WHERE stale_at IS NOT NULL;
CREATE INDEX feed_versions_file ON feed_versions (file);
CREATE INDEX feed_versions_original ON feed_versions (original);

CREATE TABLE refreshes (
    workspace_id  text COLLATE "C" NOT NULL,
    feed_id       text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    state         text NOT NULL,
    started_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    bytes_in      bigint NOT NULL,
    rows_in       bigint NOT NULL,
    rows_stored   bigint NOT NULL,
    rows_rejected bigint NOT NULL,
    rejects       text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    warnings      text NOT NULL,
    error         text NOT NULL,
    superseded    boolean NOT NULL, -- it is not the last one of a feed that is there
    PRIMARY KEY (workspace_id, feed_id, id)
);

CREATE INDEX refreshes_superseded ON refreshes (id) WHERE superseded;
CREATE INDEX refreshes_rejects ON refreshes (rejects);
