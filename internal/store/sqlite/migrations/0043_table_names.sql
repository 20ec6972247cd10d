-- The name of a feed as a table. It is empty for feeds that programs of earlier releases
-- created, which get theirs soon.
ALTER TABLE feeds ADD COLUMN table_name TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX feeds_table_name ON feeds (workspace_id, table_name) WHERE table_name <> '';
CREATE INDEX feeds_without_table_name ON feeds (id) WHERE table_name = '';
