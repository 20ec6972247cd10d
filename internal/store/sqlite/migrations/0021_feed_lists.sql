-- What lists of feeds are searched and sorted by: the name of a feed and what its source
-- is called, in lower case. Feeds that are there have their names alone until they are
-- written again. Each index has what lists are filtered by, so that no record is read
-- that a list does not have in the end.
ALTER TABLE feeds ADD COLUMN search TEXT NOT NULL DEFAULT '';
UPDATE feeds SET search = lower(name);
ALTER TABLE feeds ADD COLUMN recent TEXT NOT NULL DEFAULT ''; -- what came of the last refreshes, a letter each
UPDATE feeds SET recent = COALESCE((SELECT group_concat(letter, '') FROM (SELECT letter FROM (SELECT r.id, CASE WHEN r.state = 'failed' THEN 'f' WHEN r.unchanged THEN 'u' ELSE 'c' END AS letter
    FROM refreshes r WHERE r.workspace_id = feeds.workspace_id AND r.feed_id = feeds.id AND r.ended_at IS NOT NULL ORDER BY r.id DESC LIMIT 30) ORDER BY id)), '');
CREATE INDEX feeds_by_id ON feeds (workspace_id, id, state, search);
CREATE INDEX feeds_by_state ON feeds (workspace_id, state, id, search);
CREATE INDEX feeds_by_name ON feeds (workspace_id, search, id, state);
CREATE INDEX feeds_by_update ON feeds (workspace_id, updated_at, id, state, search);
CREATE INDEX feeds_by_rows ON feeds (workspace_id, row_count, id, state, search);
CREATE INDEX feeds_by_bytes ON feeds (workspace_id, byte_size, id, state, search);

ALTER TABLE refreshes ADD COLUMN triggered_by TEXT NOT NULL DEFAULT '';
ALTER TABLE refreshes ADD COLUMN stage TEXT NOT NULL DEFAULT '';
