-- Numbers the changes of who listens to what, and the promises of deliveries,
-- in one order.
CREATE SEQUENCE topic_seq;

-- Events whose deliveries are promised: they are made step by step, in the order
-- of acceptance within a workspace, for the subscriptions that there were at the
-- moment numbered at. reached is the last subscription that is done with.
CREATE TABLE fanouts (
    workspace_id text COLLATE "C" NOT NULL,
    at           bigint NOT NULL DEFAULT nextval('topic_seq'),
    event_id     text COLLATE "C" NOT NULL,
    resource_id  text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    wildcard     text COLLATE "C" NOT NULL,
    filter       text COLLATE "C" NOT NULL,
    attempts     integer NOT NULL,
    reached      text COLLATE "C" NOT NULL DEFAULT '',
    made         integer NOT NULL DEFAULT 0,
    stepped_at   timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (workspace_id, at)
);

CREATE INDEX fanouts_event ON fanouts (event_id);

-- From when on a topic finds its subscription, and what did before, for as long
-- as deliveries are promised from then.
ALTER TABLE subscription_topics ADD COLUMN since bigint NOT NULL DEFAULT 0;
ALTER TABLE subscription_topics ALTER COLUMN since SET DEFAULT nextval('topic_seq');

CREATE TABLE former_topics (
    workspace_id    text COLLATE "C" NOT NULL,
    topic           text COLLATE "C" NOT NULL,
    resource_id     text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    since           bigint NOT NULL,
    until           bigint NOT NULL DEFAULT nextval('topic_seq'),
    disabled        boolean NOT NULL,
    PRIMARY KEY (workspace_id, topic, resource_id, subscription_id, until)
);
