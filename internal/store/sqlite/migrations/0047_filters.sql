-- The CEL expressions of subscriptions, and the preset. filter_key identifies the text of the filter; 0 means none.
ALTER TABLE subscriptions ADD COLUMN filter TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN filter_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN transform TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN preset TEXT NOT NULL DEFAULT '';
CREATE INDEX subscriptions_filtered ON subscriptions (workspace_id, id) WHERE filter_key <> 0 AND deleted_at IS NULL;

-- Events are matched by topics, so these have the key too. The trigger sets it, also for topics that a program of the previous release writes.
ALTER TABLE subscription_topics ADD COLUMN filter_key INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER subscription_topics_filter AFTER INSERT ON subscription_topics
WHEN EXISTS (SELECT 1 FROM subscriptions WHERE id = NEW.subscription_id AND filter_key <> 0)
BEGIN
    UPDATE subscription_topics SET filter_key = (SELECT filter_key FROM subscriptions WHERE id = NEW.subscription_id)
    WHERE workspace_id = NEW.workspace_id AND topic = NEW.topic AND resource_id = NEW.resource_id AND subscription_id = NEW.subscription_id;
END;
-- The filter at the time of a promise, if the subscription has changed since.
ALTER TABLE former_topics ADD COLUMN filter TEXT NOT NULL DEFAULT '';

-- Events that the filters of some subscriptions did not match: how many, and the first of them as a JSON array.
CREATE TABLE filtered_events (
    workspace_id  TEXT NOT NULL,
    event_id      TEXT NOT NULL,
    filtered      INTEGER NOT NULL,
    subscriptions TEXT NOT NULL,
    PRIMARY KEY (workspace_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX filtered_events_age ON filtered_events (event_id);
