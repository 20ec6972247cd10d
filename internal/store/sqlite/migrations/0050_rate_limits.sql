-- The rate limits that replicas share: when the bucket of a credential is full again. Buckets
-- without a row are full.
CREATE TABLE rate_limits (
    subject TEXT NOT NULL PRIMARY KEY,
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limits_full ON rate_limits (full_at);
