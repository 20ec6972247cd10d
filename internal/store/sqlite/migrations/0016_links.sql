-- URLs that read a feed without a key. Of the secret in a URL only the hash is kept.
CREATE TABLE links (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    id           TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    format       TEXT NOT NULL, -- '' where the reader chooses
    fields       TEXT NOT NULL, -- JSON text, like filters
    filters      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    uses         INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, feed_id, id)
) STRICT;

-- What is asked of new data, and when a feed is stale: at stale_at, where that is known and
-- has not been told of yet.
ALTER TABLE feeds ADD COLUMN schema_policy TEXT NOT NULL DEFAULT 'widen';
ALTER TABLE feeds ADD COLUMN expect TEXT NOT NULL DEFAULT 'null'; -- JSON text
ALTER TABLE feeds ADD COLUMN expect_every INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN last_success_at INTEGER;
ALTER TABLE feeds ADD COLUMN stale INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN stale_at INTEGER;
CREATE INDEX feeds_stale ON feeds (stale_at) WHERE stale_at IS NOT NULL AND stale = 0;
UPDATE feeds SET last_success_at = (SELECT max(v.created_at) FROM feed_versions v WHERE v.workspace_id = feeds.workspace_id AND v.feed_id = feeds.id);

-- A refresh that may break what is asked of data.
ALTER TABLE refreshes ADD COLUMN accept INTEGER NOT NULL DEFAULT 0;

-- What was found out of a version, which never changes.
CREATE TABLE feed_profiles (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    number       INTEGER NOT NULL,
    profile      BLOB NOT NULL, -- packed JSON
    PRIMARY KEY (workspace_id, feed_id, number)
) STRICT;
