-- An index by subscription that every delivery passes through is what delivery
-- costs most: each of a thousand subscriptions has a page of its own in it, to
-- be written for each of its deliveries. So a delivery stands in the indexes
-- that its state needs and in no others, and those that were delivered, of
-- which there is no end, in one whose front part alone is written to.
--
-- The states are 2 pending, 3 delivered, 4 retrying, 5 exhausted, 6 discarded:
-- 2 and 4 are open, from 4 on something went wrong, from 5 on a delivery ended
-- undelivered. They begin at 2, and a delivery has one time, so that its row
-- keeps its length when it is delivered and is written over in its place.
CREATE TABLE deliveries_next (
    seq             INTEGER PRIMARY KEY, -- the order of acceptance, and of ids
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
    ordered         INTEGER NOT NULL, -- it may have to wait for others of its resource
    at              INTEGER NOT NULL  -- when it is due, once it has ended when it did
) STRICT;

INSERT INTO deliveries_next
    SELECT d.seq, d.id, d.workspace_id, d.subscription_id, d.event_seq, d.type, d.resource_id, CASE d.state WHEN 0 THEN 2 WHEN 1 THEN 4 WHEN 2 THEN 3 WHEN 3 THEN 5 ELSE 6 END, d.reason, d.attempts, d.budget,
        s.ordered, coalesce(d.ended_at, d.due_at)
    FROM deliveries d JOIN subscriptions s ON s.id = d.subscription_id ORDER BY d.seq;

DROP TABLE deliveries;
ALTER TABLE deliveries_next RENAME TO deliveries;

CREATE INDEX deliveries_of_event ON deliveries (event_seq);
CREATE INDEX deliveries_pending ON deliveries (subscription_id) WHERE state = 2;
CREATE INDEX deliveries_retrying ON deliveries (subscription_id, at) WHERE state = 4;
CREATE INDEX deliveries_ordered ON deliveries (subscription_id, resource_id) WHERE ordered = 1 AND (state = 2 OR state = 4);
CREATE INDEX deliveries_failed ON deliveries (subscription_id, state, seq, type) WHERE state >= 4;
CREATE INDEX deliveries_undelivered ON deliveries (workspace_id, state, seq, type) WHERE state >= 5;
-- What was delivered is listed in parts of 8,192 deliveries, newest first.
CREATE INDEX deliveries_delivered ON deliveries (seq >> 13, subscription_id, seq, type) WHERE state = 3;

ALTER TABLE subscription_topics ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0;
UPDATE subscription_topics SET ordered = (SELECT ordered FROM subscriptions s WHERE s.id = subscription_id);

-- Where to go on with ordering what was accepted before a subscription became
-- ordered; NULL where that is done.
ALTER TABLE subscriptions ADD COLUMN order_from INTEGER;
