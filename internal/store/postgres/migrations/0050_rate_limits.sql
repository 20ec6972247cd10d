-- The rate limits that replicas share: when the bucket of a credential is full again. Buckets
-- without a row are full.
CREATE TABLE rate_limits (
    subject text COLLATE "C" NOT NULL PRIMARY KEY,
    full_at timestamptz NOT NULL
);
CREATE INDEX rate_limits_full ON rate_limits (full_at);
