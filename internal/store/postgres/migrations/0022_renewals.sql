-- Who exchanges the refresh token of a connection, and what was received for it, sealed.
ALTER TABLE connections ADD COLUMN renewing text NOT NULL DEFAULT '';
ALTER TABLE connections ADD COLUMN renewing_until timestamptz;
ALTER TABLE connections ADD COLUMN received bytea;
