-- Events whose deliveries are promised: they are made step by step, in the order
-- of acceptance within a workspace, for the subscriptions that there were at the
-- moment named at. reached is the last subscription that is done with.
CREATE TABLE fanouts (
    event_seq    INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    event_id     TEXT NOT NULL,
    resource_id  TEXT NOT NULL,
    name         TEXT NOT NULL,
    wildcard     TEXT NOT NULL,
    filter       TEXT NOT NULL,
    attempts     INTEGER NOT NULL,
    at           TEXT NOT NULL,
    reached      TEXT NOT NULL,
    made         INTEGER NOT NULL,
    stepped_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX fanouts_of_workspace ON fanouts (workspace_id, resource_id, event_seq);

-- From when on a topic finds its subscription, and what did before, for as long
-- as deliveries are promised from then.
ALTER TABLE subscription_topics ADD COLUMN since TEXT NOT NULL DEFAULT '';

CREATE TABLE former_topics (
    workspace_id    TEXT NOT NULL,
    topic           TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    since           TEXT NOT NULL,
    until           TEXT NOT NULL,
    disabled        INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, topic, resource_id, subscription_id, until)
) STRICT, WITHOUT ROWID;
