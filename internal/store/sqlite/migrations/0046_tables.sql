-- How often a feed has changed since its table was last written. Programs of earlier releases do
-- not count their changes.
ALTER TABLE feeds ADD COLUMN table_changes INTEGER NOT NULL DEFAULT 1;
CREATE INDEX feeds_table_changes ON feeds (id) WHERE table_changes > 0;
-- Feeds as Iceberg tables.
CREATE TABLE feed_tables (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    sequence     INTEGER NOT NULL, -- of the last metadata file that was begun
    metadata     TEXT NOT NULL, -- the current metadata file, empty if there is none
    version      INTEGER NOT NULL, -- the version of the feed in it
    claimed_at   INTEGER, -- while somebody writes the next one
    PRIMARY KEY (workspace_id, feed_id)
) STRICT, WITHOUT ROWID;
-- The files that the current metadata of tables names, and the metadata files that are kept.
CREATE TABLE table_files (
    file         TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX table_files_feed ON table_files (workspace_id, feed_id);
