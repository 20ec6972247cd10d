-- Links that sign in with a key, once, on any replica. Their secrets are only known as hashes.
CREATE TABLE sign_in_links (
    hash       bytea NOT NULL PRIMARY KEY,
    key_id     text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);
