-- People who connect a service at its provider, by the hash of their link.
CREATE TABLE sign_ins (
    link          BLOB PRIMARY KEY,
    visit         BLOB UNIQUE,
    workspace_id  TEXT NOT NULL,
    service       TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    redirect_uri  TEXT NOT NULL,
    state         TEXT NOT NULL,
    secrets       BLOB,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);
