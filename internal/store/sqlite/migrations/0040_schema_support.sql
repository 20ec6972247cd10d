-- The schema version of the oldest program that can work on this database. It is the version
-- of the release before the one that migrated it.
CREATE TABLE schema_support (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    oldest   INTEGER NOT NULL
) STRICT;
INSERT INTO schema_support VALUES (1, 0);
