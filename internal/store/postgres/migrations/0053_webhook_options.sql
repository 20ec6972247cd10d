-- What clients can see of the configuration of a destination, sealed.
ALTER TABLE subscriptions ADD COLUMN shown bytea;
