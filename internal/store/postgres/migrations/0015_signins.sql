-- People who connect a service at its provider, by the hash of their link.
CREATE TABLE sign_ins (
    link          bytea PRIMARY KEY,
    visit         bytea UNIQUE,
    workspace_id  text COLLATE "C" NOT NULL,
    service       text NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    redirect_uri  text NOT NULL,
    state         text NOT NULL,
    secrets       bytea,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL
);

CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);
