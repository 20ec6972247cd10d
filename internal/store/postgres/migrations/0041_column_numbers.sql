-- The greatest number that a column of a feed has had: numbers are not used again.
-- The ids stay in JSON (->): a name beside them may have U+0000, which PostgreSQL has no text for.
ALTER TABLE feeds ADD COLUMN last_column integer NOT NULL DEFAULT 0;
UPDATE feeds SET last_column = coalesce((
    SELECT max(CAST(trim(BOTH '"c' FROM CAST(c.value -> 'id' AS text)) AS integer))
    FROM feed_versions v, json_array_elements(CAST(v.columns AS json)) c
    WHERE v.workspace_id = feeds.workspace_id AND v.feed_id = feeds.id), 0);
