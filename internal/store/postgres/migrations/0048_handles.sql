-- The names under which configuration files know connections, feeds and subscriptions.
CREATE TABLE handles (
    workspace_id text COLLATE "C" NOT NULL,
    object_id    text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    set_name     text COLLATE "C" NOT NULL, -- empty if no set of files manages the object
    secrets      bytea, -- the sealed digest of the secrets that were last applied
    PRIMARY KEY (workspace_id, object_id)
);
CREATE UNIQUE INDEX handles_name ON handles (workspace_id, kind, name);
-- The apply that may change the configuration of a workspace, until it ends or expires.
CREATE TABLE applies (
    workspace_id text COLLATE "C" NOT NULL PRIMARY KEY,
    holder       text COLLATE "C" NOT NULL,
    until        timestamptz NOT NULL
);
