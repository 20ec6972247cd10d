-- A subscription's own waits between attempts, separated by spaces; none means
-- the service's. How long, in nanoseconds, nothing may get through until it is
-- disabled: 0 means the default, a negative number never.
ALTER TABLE subscriptions ADD COLUMN retries text NOT NULL DEFAULT '', ADD COLUMN disable_after bigint NOT NULL DEFAULT 0;
-- When the first attempt failed since the last success, and how many have, up to
-- as many as matter.
ALTER TABLE subscriptions ADD COLUMN failing_since timestamptz, ADD COLUMN failures integer NOT NULL DEFAULT 0;
-- How many attempts a delivery gets; 0 means as many as the service's schedule makes.
ALTER TABLE subscriptions ADD COLUMN attempts integer NOT NULL
    GENERATED ALWAYS AS (CASE WHEN retries = '' THEN 0 ELSE array_length(string_to_array(retries, ' '), 1) + 1 END) STORED;
