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
