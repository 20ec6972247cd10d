-- The pins of backups. A file that becomes unreferenced after protects_from is kept until
-- expires_at, by the database's clock. A backup renews its pin while it copies files.
CREATE TABLE pins (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    protects_from timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL
);
CREATE INDEX pins_expiry ON pins (expires_at, protects_from);
-- Has a row while the store sends no deliveries and runs no refreshes.
CREATE TABLE paused (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    backup   text COLLATE "C" NOT NULL, -- that the store was restored from
    since    timestamptz NOT NULL
);
