-- How a webhook is sent arrays of events. Zero events mean that each event is sent alone.
ALTER TABLE subscriptions ADD COLUMN batch_events integer NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN batch_wait bigint NOT NULL DEFAULT 0;
