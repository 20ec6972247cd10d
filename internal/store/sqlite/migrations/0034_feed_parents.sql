-- The feeds that a feed is built from. seen_version is the version of the parent that
-- the child's last run began with or read, -1 if the parent was deleted since.
CREATE TABLE feed_parents (
    workspace_id TEXT NOT NULL,
    child_id     TEXT NOT NULL,
    parent_id    TEXT NOT NULL, -- stays when the parent is deleted
    seen_version INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, child_id, parent_id),
    FOREIGN KEY (workspace_id, child_id) REFERENCES feeds (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_parents_parent ON feed_parents (workspace_id, parent_id);

-- Feeds of earlier releases whose definitions have not been searched for parents yet.
CREATE TABLE unlinked_feeds (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    PRIMARY KEY (workspace_id, feed_id)
) STRICT, WITHOUT ROWID;
INSERT INTO unlinked_feeds (workspace_id, feed_id) SELECT f.workspace_id, f.id FROM feeds f
    WHERE EXISTS (SELECT 1 FROM sources s WHERE s.workspace_id = f.workspace_id AND s.id = f.source_id);
