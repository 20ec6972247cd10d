-- How a webhook is sent arrays of events. Zero events mean that each event is sent alone.
ALTER TABLE subscriptions ADD COLUMN batch_events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN batch_wait INTEGER NOT NULL DEFAULT 0;
