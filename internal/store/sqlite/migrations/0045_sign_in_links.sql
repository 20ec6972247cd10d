-- Links that sign in with a key, once, on any replica. Their secrets are only known as hashes.
CREATE TABLE sign_in_links (
    hash       BLOB NOT NULL PRIMARY KEY,
    key_id     TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);
