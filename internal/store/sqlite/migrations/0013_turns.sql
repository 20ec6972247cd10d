-- The newest of the moments by which topics and promises are compared, and turns:
-- new ones come behind it, also where the clock was set back.
CREATE TABLE newest_moment (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
) STRICT;

INSERT INTO newest_moment SELECT 1, max(id) FROM (
    SELECT '' AS id
    UNION ALL SELECT max(since) FROM subscription_topics
    UNION ALL SELECT max(until) FROM former_topics
    UNION ALL SELECT max(at) FROM fanouts);

-- Workspaces take turns with the deliveries that they were promised, and replays
-- with each other. turn is when one had its last; that of the first promise of a
-- workspace counts.
ALTER TABLE fanouts DROP COLUMN stepped_at;
ALTER TABLE fanouts ADD COLUMN turn TEXT NOT NULL DEFAULT '';
CREATE INDEX fanouts_first ON fanouts (workspace_id);

ALTER TABLE replays ADD COLUMN turn TEXT NOT NULL DEFAULT '';
DROP INDEX replays_unfinished;
CREATE INDEX replays_unfinished ON replays (turn) WHERE done_at IS NULL;

CREATE INDEX former_topics_of ON former_topics (subscription_id);
