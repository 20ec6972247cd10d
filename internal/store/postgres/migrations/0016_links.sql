-- URLs that read a feed without a key. Of the secret in a URL only the hash is kept.
CREATE TABLE links (
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL UNIQUE,
    name         text NOT NULL,
    format       text NOT NULL, -- '' where the reader chooses
    fields       text NOT NULL, -- JSON text, like filters
    filters      text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,
    uses         bigint NOT NULL,
    PRIMARY KEY (workspace_id, feed_id, id)
);

-- What is asked of new data, and when a feed is stale: at stale_at, where that is known and
-- has not been told of yet.
ALTER TABLE feeds ADD COLUMN schema_policy text NOT NULL DEFAULT 'widen';
ALTER TABLE feeds ADD COLUMN expect text NOT NULL DEFAULT 'null'; -- JSON text
ALTER TABLE feeds ADD COLUMN expect_every bigint NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN last_success_at timestamptz;
ALTER TABLE feeds ADD COLUMN stale boolean NOT NULL DEFAULT false;
ALTER TABLE feeds ADD COLUMN stale_at timestamptz;
CREATE INDEX feeds_stale ON feeds (stale_at) WHERE stale_at IS NOT NULL AND NOT stale;
UPDATE feeds SET last_success_at = (SELECT max(v.created_at) FROM feed_versions v WHERE v.workspace_id = feeds.workspace_id AND v.feed_id = feeds.id);

-- A refresh that may break what is asked of data.
ALTER TABLE refreshes ADD COLUMN accept boolean NOT NULL DEFAULT false;

-- What was found out of a version, which never changes.
CREATE TABLE feed_profiles (
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL,
    number       bigint NOT NULL,
    profile      bytea NOT NULL, -- packed JSON
    PRIMARY KEY (workspace_id, feed_id, number)
);
