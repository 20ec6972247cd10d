-- The views that users wrote in SQL. fields are the names of their columns, as JSON.
CREATE TABLE sql_views (
    workspace_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    name          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    statement     TEXT NOT NULL,
    fields        TEXT NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sql_views_name ON sql_views (workspace_id, connection_id, name);
