-- Which data source is behind a data feed.
CREATE TABLE feeds (
    id           TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    source_id    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A deleted subscription stays, for its deliveries.
CREATE TABLE subscriptions (
    id              TEXT PRIMARY KEY,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
    name            TEXT NOT NULL,
    url             TEXT NOT NULL,
    events          TEXT NOT NULL, -- separated by spaces
    method          TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    state           TEXT NOT NULL,
    disabled_reason TEXT NOT NULL,
    timeout_ms      INTEGER NOT NULL,
    rate_limit      INTEGER NOT NULL,
    rate_per_ms     INTEGER NOT NULL,
    concurrency     INTEGER NOT NULL,
    ordered         INTEGER NOT NULL,
    secrets         BLOB,
    headers         BLOB,
    header_names    TEXT NOT NULL, -- separated by spaces
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER,
    last_success_at INTEGER,
    warned_at       INTEGER
) STRICT;

CREATE INDEX subscriptions_live ON subscriptions (workspace_id, id) WHERE deleted_at IS NULL;

-- What subscriptions listen to: the index that an event is matched with. A
-- subscription without a filter has the resource ''. The deleted have no rows.
CREATE TABLE subscription_topics (
    workspace_id    TEXT NOT NULL,
    topic           TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    disabled        INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, topic, resource_id, subscription_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX subscription_topics_of ON subscription_topics (subscription_id);

CREATE TABLE events (
    seq          INTEGER PRIMARY KEY, -- the order of acceptance
    id           TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    publisher_id TEXT NOT NULL,
    type         TEXT NOT NULL,
    resource_id  TEXT NOT NULL,
    source_id    TEXT NOT NULL,
    happened_at  INTEGER NOT NULL,
    payload      BLOB NOT NULL
) STRICT;

-- Lists by type and by resource go through this index too: one for each of them
-- would be paid for with every event.
CREATE UNIQUE INDEX events_by_id ON events (workspace_id, id);

-- What publishers named their events. It outlives the events: a name is taken
-- for ever.
CREATE TABLE publisher_ids (
    workspace_id TEXT NOT NULL,
    dedupe_key   TEXT NOT NULL,
    event_id     TEXT NOT NULL,
    PRIMARY KEY (workspace_id, dedupe_key)
) STRICT, WITHOUT ROWID;

-- The states are 0 pending, 1 retrying, 2 delivered, 3 exhausted, 4 discarded:
-- up to 1 a delivery is open, from 3 on it ended undelivered.
CREATE TABLE deliveries (
    seq             INTEGER PRIMARY KEY, -- the order of acceptance
    id              TEXT NOT NULL UNIQUE,
    workspace_id    TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    event_seq       INTEGER NOT NULL,
    type            TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    state           INTEGER NOT NULL,
    reason          TEXT NOT NULL,
    attempts        INTEGER NOT NULL,
    budget          INTEGER NOT NULL,
    due_at          INTEGER NOT NULL,
    ended_at        INTEGER
) STRICT;

CREATE INDEX deliveries_of_event ON deliveries (event_seq);
CREATE INDEX deliveries_by_state ON deliveries (subscription_id, state, id, type);
CREATE INDEX deliveries_undelivered ON deliveries (workspace_id, state, id) WHERE state >= 3;
CREATE INDEX deliveries_due ON deliveries (subscription_id, due_at) WHERE state <= 1;
CREATE INDEX deliveries_queue ON deliveries (subscription_id, resource_id) WHERE state <= 1;

CREATE TABLE attempts (
    delivery_seq  INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    id            TEXT NOT NULL,
    at            INTEGER NOT NULL,
    status        INTEGER NOT NULL,
    error         TEXT NOT NULL,
    header        BLOB,
    dns_us        INTEGER NOT NULL,
    connect_us    INTEGER NOT NULL,
    tls_us        INTEGER NOT NULL,
    first_byte_us INTEGER NOT NULL,
    total_us      INTEGER NOT NULL,
    PRIMARY KEY (delivery_seq, number)
) STRICT, WITHOUT ROWID;

-- The answers of failed attempts, apart because they are large.
CREATE TABLE attempt_bodies (
    delivery_seq INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    body         BLOB NOT NULL,
    PRIMARY KEY (delivery_seq, number)
) STRICT;

CREATE TABLE replays (
    id              TEXT PRIMARY KEY,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    since           INTEGER NOT NULL,
    until           INTEGER NOT NULL,
    states          TEXT NOT NULL, -- separated by spaces; none means all
    cursor          TEXT NOT NULL, -- the last delivery that is done with
    bound           TEXT NOT NULL, -- deliveries from here on are not meant
    made            INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    done_at         INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX replays_unfinished ON replays (made) WHERE done_at IS NULL;
