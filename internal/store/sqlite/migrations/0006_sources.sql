-- What the feeds of type rest are fetched from.
CREATE TABLE sources (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    type         TEXT NOT NULL,
    host         TEXT NOT NULL,
    due_at       INTEGER, -- NULL where nothing is planned
    run          INTEGER NOT NULL,
    leased_until INTEGER, -- NULL where no run has it
    schedule     TEXT NOT NULL,
    spec         BLOB,
    secrets      BLOB,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT;

-- It has the workspace and the host so that those whose turn it is not are passed
-- over without a look at their rows.
CREATE INDEX sources_due ON sources (due_at, id, workspace_id, host) WHERE due_at IS NOT NULL;

ALTER TABLE feeds ADD COLUMN schedule TEXT NOT NULL DEFAULT '{}';
ALTER TABLE feeds ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN position BLOB; -- how far its fetches have come, as JSON text

CREATE INDEX feeds_source ON feeds (workspace_id, source_id, id);

ALTER TABLE refreshes ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;

-- A trace is JSON text, compressed. It goes with its refresh.
CREATE TABLE refresh_traces (
    workspace_id TEXT NOT NULL,
    feed_id      TEXT NOT NULL,
    refresh_id   TEXT NOT NULL,
    trace        BLOB NOT NULL,
    PRIMARY KEY (workspace_id, feed_id, refresh_id),
    FOREIGN KEY (workspace_id, feed_id, refresh_id) REFERENCES refreshes (workspace_id, feed_id, id) ON DELETE CASCADE
) STRICT;
