-- What came of the attempts of subscriptions, by stretches of time and by who
-- counted; times are how many answers took how long, as JSON text.
CREATE TABLE delivery_counts (
    subscription_id text COLLATE "C" NOT NULL,
    from_at         timestamptz NOT NULL,
    writer          text COLLATE "C" NOT NULL,
    delivered       bigint NOT NULL,
    first_attempt   bigint NOT NULL,
    failed          bigint NOT NULL,
    exhausted       bigint NOT NULL,
    times           text NOT NULL,
    PRIMARY KEY (subscription_id, from_at, writer)
);
CREATE INDEX delivery_counts_by_age ON delivery_counts (from_at);
