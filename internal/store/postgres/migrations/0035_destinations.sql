-- The kind of a subscription's destination. Everything that has a URL is a webhook.
ALTER TABLE subscriptions ADD COLUMN destination text NOT NULL DEFAULT 'webhook';
UPDATE subscriptions SET destination = 'listener' WHERE listen_until IS NOT NULL;
