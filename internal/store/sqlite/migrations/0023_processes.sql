-- What each process of the service last said of itself, and a point a minute of what it
-- did in the last day, for the operator.
CREATE TABLE processes (
    process TEXT NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL,
    report  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE process_points (
    at      INTEGER NOT NULL,
    process TEXT NOT NULL,
    report  BLOB NOT NULL,
    PRIMARY KEY (at, process)
) STRICT, WITHOUT ROWID;
