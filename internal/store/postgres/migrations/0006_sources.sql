-- What the feeds of type rest are fetched from.
CREATE TABLE sources (
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id           text COLLATE "C" NOT NULL,
    type         text NOT NULL,
    host         text NOT NULL,
    due_at       timestamptz, -- NULL where nothing is planned
    run          bigint NOT NULL,
    leased_until timestamptz, -- NULL where no run has it
    schedule     text NOT NULL,
    spec         bytea,
    secrets      bytea,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX sources_due ON sources (due_at, id) WHERE due_at IS NOT NULL;

ALTER TABLE feeds ADD COLUMN schedule text NOT NULL DEFAULT '{}';
ALTER TABLE feeds ADD COLUMN failures bigint NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN position bytea; -- how far its fetches have come, as JSON text

CREATE INDEX feeds_source ON feeds (workspace_id, source_id, id);

ALTER TABLE refreshes ADD COLUMN requests bigint NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN pages bigint NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN unchanged boolean NOT NULL DEFAULT false;

-- A trace is JSON text, compressed. It goes with its refresh.
CREATE TABLE refresh_traces (
    workspace_id text COLLATE "C" NOT NULL,
    feed_id      text COLLATE "C" NOT NULL,
    refresh_id   text COLLATE "C" NOT NULL,
    trace        bytea NOT NULL,
    PRIMARY KEY (workspace_id, feed_id, refresh_id),
    FOREIGN KEY (workspace_id, feed_id, refresh_id) REFERENCES refreshes (workspace_id, feed_id, id) ON DELETE CASCADE
);
-- What is compressed already gains nothing by it.
ALTER TABLE refresh_traces ALTER COLUMN trace SET STORAGE EXTERNAL;
