-- What the operator knows of a workspace, its limits, and how far its deletion has come.
ALTER TABLE workspaces ADD COLUMN external_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN metadata text NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN quotas text NOT NULL DEFAULT '{}';
ALTER TABLE workspaces ADD COLUMN last_request_at timestamptz;
ALTER TABLE workspaces ADD COLUMN deleting_since timestamptz;
ALTER TABLE workspaces ADD COLUMN deleted_rows bigint NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN total_rows bigint NOT NULL DEFAULT 0; -- zero until they are counted
ALTER TABLE workspaces ADD COLUMN deleter text COLLATE "C" NOT NULL DEFAULT ''; -- the replica that deletes it
ALTER TABLE workspaces ADD COLUMN deleter_until timestamptz;
CREATE UNIQUE INDEX workspaces_external_id ON workspaces (external_id) WHERE external_id <> '';
CREATE INDEX workspaces_deleting ON workspaces (id) WHERE deleting_since IS NOT NULL;
CREATE INDEX objects_workspace ON objects (workspace_id, state);
