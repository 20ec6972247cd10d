-- Who has signed in at the OIDC issuer: these sessions have no key.
ALTER TABLE sessions ADD COLUMN subject text NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN name text NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN scopes text NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN home_id text COLLATE "C" NOT NULL DEFAULT '';
