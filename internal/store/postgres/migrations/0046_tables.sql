-- How often a feed has changed since its table was last written. Programs of earlier releases do
-- not count their changes.
ALTER TABLE feeds ADD COLUMN table_changes bigint NOT NULL DEFAULT 1;
CREATE INDEX feeds_table_changes ON feeds (id) WHERE table_changes > 0;
-- Feeds as Iceberg tables.
CREATE TABLE feed_tables (
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL,
    sequence     bigint NOT NULL, -- of the last metadata file that was begun
    metadata     text COLLATE "C" NOT NULL, -- the current metadata file, empty if there is none
    version      bigint NOT NULL, -- the version of the feed in it
    claimed_at   timestamptz, -- while somebody writes the next one
    PRIMARY KEY (workspace_id, feed_id)
);
-- The files that the current metadata of tables names, and the metadata files that are kept.
CREATE TABLE table_files (
    file         text COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL
);
CREATE INDEX table_files_feed ON table_files (workspace_id, feed_id);
