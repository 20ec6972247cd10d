-- Every file of feeds, from before its first byte is written until a while after it is deleted.
-- The state is writing, live, unreferenced, deleting or deleted, since a time of the database's clock.
-- Programs of earlier releases do not write these rows; files without one are found by the sweep.
CREATE TABLE objects (
    file         TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL, -- empty if its feed is gone or not committed yet
    bytes        INTEGER NOT NULL, -- negative until they are measured
    state        TEXT NOT NULL,
    holder       TEXT NOT NULL, -- the replica that writes it
    since        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_since ON objects (state, since);
-- Files are named after their feeds.
CREATE INDEX feeds_id ON feeds (id);
INSERT INTO objects (file, workspace_id, bytes, state, holder, since) SELECT file, workspace_id, bytes, 'unreferenced', '', since FROM unreferenced_files;
-- The id of this store. The folder or bucket that has its files holds the same id.
CREATE TABLE store_identity (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT NOT NULL
) STRICT;
