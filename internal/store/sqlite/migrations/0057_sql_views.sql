-- The views that users wrote in SQL.
CREATE TABLE sql_views (
    workspace_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    name          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    statement     TEXT NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sql_views_name ON sql_views (workspace_id, connection_id, name);
