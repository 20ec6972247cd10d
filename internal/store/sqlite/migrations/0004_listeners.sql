-- When a listener ends, which is a subscription without a URL; NULL for all others.
ALTER TABLE subscriptions ADD COLUMN listen_until INTEGER;

CREATE INDEX subscriptions_listening ON subscriptions (listen_until) WHERE listen_until IS NOT NULL AND deleted_at IS NULL;
