-- When a key ends by itself; NULL for one that does not.
ALTER TABLE keys ADD COLUMN expires_at INTEGER;

-- The owner is whose request a kept answer is of; '' in those that were kept
-- before this was known.
CREATE TABLE once_next (
    workspace_id TEXT NOT NULL,
    owner        TEXT NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  BLOB NOT NULL,
    answer       BLOB NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, owner, key)
) STRICT, WITHOUT ROWID;

INSERT INTO once_next SELECT workspace_id, '', key, fingerprint, answer, expires_at FROM once;

DROP TABLE once;
ALTER TABLE once_next RENAME TO once;

CREATE INDEX once_expiry ON once (expires_at);

CREATE TABLE audit (
    workspace_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    at            INTEGER NOT NULL,
    actor_key     TEXT NOT NULL,
    actor_subject TEXT NOT NULL,
    actor_name    TEXT NOT NULL,
    action        TEXT NOT NULL,
    resource      TEXT NOT NULL,
    fields        TEXT NOT NULL, -- JSON text
    address       TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_age ON audit (id);
