-- A version is a list of files, which versions share. files is that list as JSON
-- text, and version_files has who uses which.
ALTER TABLE feed_versions ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
UPDATE feed_versions SET files = json_array(json_object('name', file, 'rows', row_count, 'bytes', byte_size));

CREATE TABLE version_files (
    file         TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    number       INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    PRIMARY KEY (file, workspace_id, feed_id, number),
    FOREIGN KEY (workspace_id, feed_id, number) REFERENCES feed_versions (workspace_id, feed_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX version_files_of_version ON version_files (workspace_id, feed_id, number);
INSERT INTO version_files (file, workspace_id, feed_id, number, bytes) SELECT file, workspace_id, feed_id, number, byte_size FROM feed_versions;
DROP INDEX feed_versions_file;
ALTER TABLE feed_versions DROP COLUMN file;

ALTER TABLE feed_versions ADD COLUMN position BLOB;
ALTER TABLE feed_versions ADD COLUMN refresh_id TEXT NOT NULL DEFAULT '';
ALTER TABLE feed_versions ADD COLUMN changes TEXT NOT NULL DEFAULT '{}';
ALTER TABLE feed_versions ADD COLUMN keyed TEXT NOT NULL DEFAULT '[]'; -- ids of columns
ALTER TABLE feed_versions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed_versions ADD COLUMN file_count INTEGER NOT NULL DEFAULT 1; -- 0 once there is a newer version
UPDATE feed_versions SET refresh_id = COALESCE((SELECT r.id FROM refreshes r
    WHERE r.workspace_id = feed_versions.workspace_id AND r.feed_id = feed_versions.feed_id AND r.version = feed_versions.number LIMIT 1), '');
UPDATE feed_versions SET position = (SELECT f.position FROM feeds f
    WHERE f.workspace_id = feed_versions.workspace_id AND f.id = feed_versions.feed_id AND f.version = feed_versions.number);
CREATE INDEX feed_versions_crowded ON feed_versions (file_count) WHERE file_count > 8;

ALTER TABLE refreshes ADD COLUMN changes TEXT NOT NULL DEFAULT '{}';
ALTER TABLE feeds ADD COLUMN keep TEXT NOT NULL DEFAULT '{}';
