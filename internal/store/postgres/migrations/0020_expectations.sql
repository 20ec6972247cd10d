-- All that is expected of a feed is in expect; the feed knows of a refresh that accepts
-- everything; and a profile goes with its version.
ALTER TABLE feeds DROP COLUMN schema_policy;
ALTER TABLE feeds DROP COLUMN expect_every;
ALTER TABLE refreshes DROP COLUMN accept;
DROP TABLE feed_profiles;
DROP INDEX feeds_stale;
CREATE INDEX feeds_stale ON feeds (stale_at) WHERE stale_at IS NOT NULL;

-- How a version was read, so that it can be again, and what is known of its values.
ALTER TABLE feed_versions ADD COLUMN spec bytea;
ALTER TABLE feed_versions ADD COLUMN profile bytea;
UPDATE feed_versions SET spec = (SELECT f.spec FROM feeds f WHERE f.workspace_id = feed_versions.workspace_id AND f.id = feed_versions.feed_id AND f.version = feed_versions.number);
