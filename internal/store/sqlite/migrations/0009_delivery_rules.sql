-- A subscription's own waits between attempts, separated by spaces; none means
-- the service's. How long nothing may get through until it is disabled: 0 means
-- the default, -1 never.
ALTER TABLE subscriptions ADD COLUMN retries TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN disable_after INTEGER NOT NULL DEFAULT 0;
-- When the first attempt failed since the last success, and how many have, up to
-- as many as matter.
ALTER TABLE subscriptions ADD COLUMN failing_since INTEGER;
ALTER TABLE subscriptions ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
-- How many attempts a delivery gets; 0 means as many as the service's schedule makes.
ALTER TABLE subscription_topics ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
