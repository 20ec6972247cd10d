-- What the operator knows of a workspace, its limits, and how far its deletion has come.
ALTER TABLE workspaces ADD COLUMN external_id TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN quotas TEXT NOT NULL DEFAULT '{}';
ALTER TABLE workspaces ADD COLUMN last_request_at INTEGER;
ALTER TABLE workspaces ADD COLUMN deleting_since INTEGER;
ALTER TABLE workspaces ADD COLUMN deleted_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN total_rows INTEGER NOT NULL DEFAULT 0; -- zero until they are counted
ALTER TABLE workspaces ADD COLUMN deleter TEXT NOT NULL DEFAULT ''; -- the replica that deletes it
ALTER TABLE workspaces ADD COLUMN deleter_until INTEGER;
CREATE UNIQUE INDEX workspaces_external_id ON workspaces (external_id) WHERE external_id <> '';
CREATE INDEX workspaces_deleting ON workspaces (id) WHERE deleting_since IS NOT NULL;
CREATE INDEX objects_workspace ON objects (workspace_id, state);
