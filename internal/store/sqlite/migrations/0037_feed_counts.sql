-- How many feeds of each state a workspace has, so that lists need not count them.
CREATE TABLE feed_counts (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    state        TEXT NOT NULL,
    feeds        INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER feeds_inserted AFTER INSERT ON feeds BEGIN
    INSERT INTO feed_counts VALUES (NEW.workspace_id, NEW.state, 1) ON CONFLICT DO UPDATE SET feeds = feeds + 1;
END;
CREATE TRIGGER feeds_deleted AFTER DELETE ON feeds BEGIN
    UPDATE feed_counts SET feeds = feeds - 1 WHERE workspace_id = OLD.workspace_id AND state = OLD.state;
END;
CREATE TRIGGER feeds_changed AFTER UPDATE OF workspace_id, state ON feeds WHEN (OLD.workspace_id, OLD.state) <> (NEW.workspace_id, NEW.state) BEGIN
    UPDATE feed_counts SET feeds = feeds - 1 WHERE workspace_id = OLD.workspace_id AND state = OLD.state;
    INSERT INTO feed_counts VALUES (NEW.workspace_id, NEW.state, 1) ON CONFLICT DO UPDATE SET feeds = feeds + 1;
END;

INSERT INTO feed_counts SELECT workspace_id, state, count(*) FROM feeds GROUP BY workspace_id, state;

DROP INDEX feeds_counted;
