-- The permits of limits that replicas share, such as the sessions of a connection. Permits that
-- have expired are free.
CREATE TABLE permits (
    pool   TEXT NOT NULL,
    number INTEGER NOT NULL,
    ticket TEXT NOT NULL,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (pool, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX permits_ticket ON permits (ticket);
