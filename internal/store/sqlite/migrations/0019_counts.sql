-- What came of the attempts of subscriptions, by stretches of time and by who
-- counted; times are how many answers took how long, as JSON text.
CREATE TABLE delivery_counts (
    subscription_id TEXT NOT NULL,
    from_at         INTEGER NOT NULL,
    writer          TEXT NOT NULL,
    delivered       INTEGER NOT NULL,
    first_attempt   INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    exhausted       INTEGER NOT NULL,
    times           TEXT NOT NULL,
    PRIMARY KEY (subscription_id, from_at, writer)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_counts_by_age ON delivery_counts (from_at);
