-- The permits of limits that replicas share, such as the sessions of a connection. Permits that
-- have expired are free.
CREATE TABLE permits (
    pool   text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    ticket text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    until  timestamptz NOT NULL,
    PRIMARY KEY (pool, number)
);
CREATE INDEX permits_ticket ON permits (ticket);
