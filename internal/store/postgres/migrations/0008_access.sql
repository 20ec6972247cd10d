-- When a key ends by itself; NULL for one that does not.
ALTER TABLE keys ADD COLUMN expires_at timestamptz;

-- The owner is whose request a kept answer is of; '' in those that were kept
-- before this was known.
ALTER TABLE once ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE once DROP CONSTRAINT once_pkey;
ALTER TABLE once ADD PRIMARY KEY (workspace_id, owner, key);

CREATE TABLE audit (
    workspace_id  text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    at            timestamptz NOT NULL,
    actor_key     text COLLATE "C" NOT NULL,
    actor_subject text NOT NULL,
    actor_name    text NOT NULL,
    action        text NOT NULL,
    resource      text COLLATE "C" NOT NULL,
    fields        text NOT NULL, -- JSON text
    address       text NOT NULL,
    request_id    text NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX audit_age ON audit (id);
