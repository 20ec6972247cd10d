-- What each process of the service last said of itself, and a point a minute of what it
-- did in the last day, for the operator.
CREATE TABLE processes (
    process text COLLATE "C" NOT NULL PRIMARY KEY,
    at      timestamptz NOT NULL,
    report  bytea NOT NULL
);

CREATE TABLE process_points (
    at      timestamptz NOT NULL,
    process text COLLATE "C" NOT NULL,
    report  bytea NOT NULL,
    PRIMARY KEY (at, process)
);
