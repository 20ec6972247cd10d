-- The views that users wrote in SQL. fields are the names of their columns, as JSON.
CREATE TABLE sql_views (
    workspace_id  text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    name          text COLLATE "C" NOT NULL,
    created_at    timestamptz NOT NULL,
    statement     text NOT NULL,
    fields        text NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX sql_views_name ON sql_views (workspace_id, connection_id, name);
