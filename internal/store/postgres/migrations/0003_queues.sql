-- A delivery stands in the indexes that its state needs and in no others: each
-- one is paid for with every delivery. What is pending is due, whatever its
-- time says; what is retrying is due at its time.
DROP INDEX open_deliveries_due;
DROP INDEX open_deliveries_listed;
CREATE INDEX open_deliveries_pending ON open_deliveries (subscription_id, id) WHERE state = 'pending';
CREATE INDEX open_deliveries_retrying ON open_deliveries (subscription_id, due_at, seq) WHERE state = 'retrying';
CREATE INDEX open_deliveries_failed ON open_deliveries (subscription_id, id) WHERE state = 'retrying';

DROP INDEX ended_deliveries_type;
DROP INDEX ended_deliveries_state;
CREATE INDEX ended_deliveries_state ON ended_deliveries (subscription_id, state, id) INCLUDE (type);

-- A delivery is written twice, when it is accepted and when it ends, and each
-- index that it stands in is paid for each time. So it stands in no more than two:
-- that of its id, and that of its subscription and state.

-- When a delivery was made its id says, and when one that has ended was due is of
-- no use to anybody.
ALTER TABLE open_deliveries DROP COLUMN created_at;
ALTER TABLE ended_deliveries DROP COLUMN created_at, DROP COLUMN due_at;

-- The deliveries that an event had when it was accepted have ids between these
-- two, and few others do. Those made later, or on another day than the event, stand
-- apart and have an index; and so do all that were there before this was noted.
ALTER TABLE events ADD COLUMN first_delivery text COLLATE "C", ADD COLUMN last_delivery text COLLATE "C";
ALTER TABLE open_deliveries ADD COLUMN apart boolean NOT NULL DEFAULT true;
ALTER TABLE open_deliveries ALTER COLUMN apart DROP DEFAULT;
ALTER TABLE ended_deliveries ADD COLUMN apart boolean NOT NULL DEFAULT true;
ALTER TABLE ended_deliveries ALTER COLUMN apart DROP DEFAULT;
DROP INDEX open_deliveries_event;
DROP INDEX ended_deliveries_event;
CREATE INDEX open_deliveries_event ON open_deliveries (event_id, id) WHERE apart;
CREATE INDEX ended_deliveries_event ON ended_deliveries (event_id, id) WHERE apart;

-- The attempt that ended a delivery is kept with it, packed; attempts has those
-- before it, and those that came too late.
ALTER TABLE ended_deliveries ADD COLUMN final_id text COLLATE "C", ADD COLUMN final_number integer, ADD COLUMN final_attempt bytea;

-- A transaction takes one number for up to 2^20 deliveries and numbers them
-- itself; see sequence.go.
ALTER TABLE open_deliveries ALTER COLUMN seq DROP DEFAULT;
ALTER TABLE ended_deliveries ALTER COLUMN seq DROP DEFAULT;
ALTER TABLE replays ALTER COLUMN before_seq DROP DEFAULT;

CREATE INDEX subscriptions_warned ON subscriptions (id) WHERE warned_at IS NOT NULL;
