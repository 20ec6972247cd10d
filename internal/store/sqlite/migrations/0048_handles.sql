-- The names under which configuration files know connections, feeds and subscriptions.
CREATE TABLE handles (
    workspace_id TEXT NOT NULL,
    object_id    TEXT NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    set_name     TEXT NOT NULL, -- empty if no set of files manages the object
    secrets      BLOB, -- the sealed digest of the secrets that were last applied
    PRIMARY KEY (workspace_id, object_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX handles_name ON handles (workspace_id, kind, name);
-- The apply that may change the configuration of a workspace, until it ends or expires.
CREATE TABLE applies (
    workspace_id TEXT NOT NULL PRIMARY KEY,
    holder       TEXT NOT NULL,
    until        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
