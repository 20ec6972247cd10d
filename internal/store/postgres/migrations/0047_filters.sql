-- The CEL expressions of subscriptions, and the preset. filter_key identifies the text of the filter; 0 means none.
ALTER TABLE subscriptions ADD COLUMN filter text NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN filter_key bigint NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN transform text NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN preset text NOT NULL DEFAULT '';
CREATE INDEX subscriptions_filtered ON subscriptions (workspace_id, id) WHERE filter_key <> 0 AND deleted_at IS NULL;

-- The filter at the time of a promise, if the subscription has changed since.
ALTER TABLE former_topics ADD COLUMN filter text NOT NULL DEFAULT '';

-- Events that the filters of some subscriptions did not match: how many, and the first of them.
CREATE TABLE filtered_events (
    workspace_id  text COLLATE "C" NOT NULL,
    event_id      text COLLATE "C" NOT NULL,
    filtered      integer NOT NULL,
    subscriptions text[] NOT NULL,
    PRIMARY KEY (workspace_id, event_id)
);
CREATE INDEX filtered_events_age ON filtered_events (event_id);
