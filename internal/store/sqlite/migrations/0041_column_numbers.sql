-- The greatest number that a column of a feed has had: numbers are not used again.
ALTER TABLE feeds ADD COLUMN last_column INTEGER NOT NULL DEFAULT 0;
UPDATE feeds SET last_column = coalesce((
    SELECT max(CAST(substr(c.value ->> 'id', 2) AS INTEGER))
    FROM feed_versions v, json_each(v.columns) c
    WHERE v.workspace_id = feeds.workspace_id AND v.feed_id = feeds.id), 0);
