-- The data source behind each data feed.
CREATE TABLE feed_sources (
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    feed_id      text COLLATE "C" NOT NULL,
    source_id    text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, feed_id)
);

-- A deleted subscription stays, for its deliveries. Durations are nanoseconds.
CREATE TABLE subscriptions (
    id              text COLLATE "C" PRIMARY KEY,
    workspace_id    text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name            text NOT NULL,
    url             text NOT NULL,
    events          text[] NOT NULL,
    method          text NOT NULL,
    resource_id     text COLLATE "C" NOT NULL,
    state           text NOT NULL,
    disabled_reason text NOT NULL,
    timeout         bigint NOT NULL,
    rate_limit      integer NOT NULL,
    rate_per        bigint NOT NULL,
    concurrency     integer NOT NULL,
    ordered         boolean NOT NULL,
    secrets         bytea,
    headers         bytea,
    header_names    text[],
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    deleted_at      timestamptz,
    last_success_at timestamptz,
    warned_at       timestamptz
);

CREATE INDEX subscriptions_live ON subscriptions (workspace_id, id) WHERE deleted_at IS NULL;

-- Which subscriptions an event is for: one row for each name or wildcard of a
-- subscription that is not deleted. An empty resource_id is no filter.
CREATE TABLE subscription_topics (
    workspace_id    text COLLATE "C" NOT NULL,
    topic           text COLLATE "C" NOT NULL,
    resource_id     text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL REFERENCES subscriptions (id),
    PRIMARY KEY (workspace_id, topic, resource_id, subscription_id)
);

CREATE INDEX subscription_topics_owner ON subscription_topics (subscription_id);

-- What publishers called their events, kept for ever. It outlives the events.
CREATE TABLE publisher_ids (
    workspace_id text COLLATE "C" NOT NULL,
    dedupe_key   text COLLATE "C" NOT NULL,
    event_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, dedupe_key)
);

-- The days for which events, ended_deliveries, attempts and attempt_bodies have
-- partitions. All four are divided by ids, which begin with the time.
CREATE TABLE partition_days (
    day date PRIMARY KEY
);

CREATE TABLE events (
    id           text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    publisher_id text NOT NULL,
    type         text COLLATE "C" NOT NULL,
    happened_at  timestamptz NOT NULL,
    resource_id  text COLLATE "C" NOT NULL,
    source_id    text COLLATE "C" NOT NULL,
    payload      bytea NOT NULL,
    PRIMARY KEY (workspace_id, id)
) PARTITION BY RANGE (id);

CREATE INDEX events_type ON events (workspace_id, type, id);
CREATE INDEX events_resource ON events (workspace_id, resource_id, id) WHERE resource_id <> '';

-- The order in which deliveries were accepted.
CREATE SEQUENCE delivery_seq;

-- Deliveries with attempts to come. A delivery is in exactly one of this table
-- and ended_deliveries: this one stays as small as the work that is left.
CREATE TABLE open_deliveries (
    id              text COLLATE "C" PRIMARY KEY,
    workspace_id    text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    slot            smallint NOT NULL,
    event_id        text COLLATE "C" NOT NULL,
    seq             bigint NOT NULL DEFAULT nextval('delivery_seq'),
    type            text COLLATE "C" NOT NULL,
    resource_id     text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,
    reason          text NOT NULL,
    attempts        integer NOT NULL,
    budget          integer NOT NULL,
    due_at          timestamptz NOT NULL,
    created_at      timestamptz NOT NULL
);

CREATE INDEX open_deliveries_due ON open_deliveries (subscription_id, due_at, seq);
CREATE INDEX open_deliveries_heads ON open_deliveries (subscription_id, resource_id, seq);
CREATE INDEX open_deliveries_listed ON open_deliveries (subscription_id, id);
CREATE INDEX open_deliveries_event ON open_deliveries (event_id, id);

CREATE TABLE ended_deliveries (
    id              text COLLATE "C" PRIMARY KEY,
    workspace_id    text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    event_id        text COLLATE "C" NOT NULL,
    seq             bigint NOT NULL DEFAULT nextval('delivery_seq'),
    type            text COLLATE "C" NOT NULL,
    resource_id     text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,
    reason          text NOT NULL,
    attempts        integer NOT NULL,
    budget          integer NOT NULL,
    due_at          timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    ended_at        timestamptz NOT NULL
) PARTITION BY RANGE (id);

CREATE INDEX ended_deliveries_state ON ended_deliveries (subscription_id, state, id);
CREATE INDEX ended_deliveries_type ON ended_deliveries (subscription_id, type, state, id);
CREATE INDEX ended_deliveries_event ON ended_deliveries (event_id, id);
CREATE INDEX ended_deliveries_undelivered ON ended_deliveries (workspace_id, id) WHERE state IN ('exhausted', 'discarded');

-- Durations are nanoseconds.
CREATE TABLE attempts (
    delivery_id text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    number      integer NOT NULL,
    at          timestamptz NOT NULL,
    status      integer NOT NULL,
    error       text NOT NULL,
    header      bytea,
    dns         bigint NOT NULL,
    connect     bigint NOT NULL,
    tls         bigint NOT NULL,
    first_byte  bigint NOT NULL,
    total       bigint NOT NULL,
    PRIMARY KEY (delivery_id, id)
) PARTITION BY RANGE (delivery_id);

-- What the endpoints of failed attempts answered, apart because it is large.
CREATE TABLE attempt_bodies (
    delivery_id text COLLATE "C" NOT NULL,
    attempt_id  text COLLATE "C" NOT NULL,
    body        bytea NOT NULL,
    PRIMARY KEY (delivery_id, attempt_id)
) PARTITION BY RANGE (delivery_id);

-- A replay covers the deliveries before before_seq, so that it never meets those
-- that it makes itself. reached is the last delivery that it has looked at.
CREATE TABLE replays (
    id              text COLLATE "C" PRIMARY KEY,
    workspace_id    text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL REFERENCES subscriptions (id),
    since           timestamptz,
    until           timestamptz,
    states          text[] NOT NULL,
    created_at      timestamptz NOT NULL,
    made            integer NOT NULL,
    done_at         timestamptz,
    before_seq      bigint NOT NULL DEFAULT nextval('delivery_seq'),
    reached         text COLLATE "C" NOT NULL DEFAULT '',
    stepped_at      timestamptz NOT NULL
);

CREATE INDEX replays_unfinished ON replays (stepped_at, id) WHERE done_at IS NULL;

-- Who sends for which part of the subscriptions, by the database's clock.
CREATE TABLE replicas (
    id         text COLLATE "C" PRIMARY KEY,
    expires_at timestamptz NOT NULL
);

CREATE TABLE slots (
    slot       smallint PRIMARY KEY,
    owner      text COLLATE "C",
    expires_at timestamptz
);

INSERT INTO slots (slot) SELECT generate_series(0, 255);
