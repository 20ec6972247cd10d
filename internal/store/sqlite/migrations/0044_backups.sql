-- The pins of backups. A file that becomes unreferenced after protects_from is kept until
-- expires_at, by the database's clock. A backup renews its pin while it copies files.
CREATE TABLE pins (
    id            TEXT NOT NULL PRIMARY KEY,
    protects_from INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pins_expiry ON pins (expires_at, protects_from);
-- Has a row while the store sends no deliveries and runs no refreshes.
CREATE TABLE paused (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    backup   TEXT NOT NULL, -- that the store was restored from
    since    INTEGER NOT NULL
) STRICT;
