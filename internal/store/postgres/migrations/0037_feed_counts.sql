-- How many feeds of each state a workspace has, so that lists need not count them. The
-- number is the sum of all rows of the workspace and the state: a transaction changes a
-- row that no other one has locked, so that writers never wait for each other.
CREATE TABLE feed_counts (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    state        text COLLATE "C" NOT NULL,
    feeds        bigint NOT NULL
);

CREATE INDEX feed_counts_state ON feed_counts (workspace_id, state);

CREATE FUNCTION add_to_feed_counts(workspace text, of_state text, n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE feed_counts SET feeds = feeds + n WHERE id =
        (SELECT c.id FROM feed_counts c WHERE c.workspace_id = workspace AND c.state = of_state LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO feed_counts (workspace_id, state, feeds) VALUES (workspace, of_state, n);
    END IF;
END $$;

-- Many feeds of one statement are counted at once: a row that a transaction changes often
-- becomes slow to find.
CREATE FUNCTION count_feeds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_feed_counts(workspace_id, state, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END)
        FROM counted GROUP BY workspace_id, state;
    RETURN NULL;
END $$;

CREATE FUNCTION count_changed_feed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_feed_counts(OLD.workspace_id, OLD.state, -1);
    PERFORM add_to_feed_counts(NEW.workspace_id, NEW.state, 1);
    RETURN NULL;
END $$;

CREATE TRIGGER feeds_inserted AFTER INSERT ON feeds REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION count_feeds();
CREATE TRIGGER feeds_deleted AFTER DELETE ON feeds REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION count_feeds();
CREATE TRIGGER feeds_changed AFTER UPDATE OF workspace_id, state ON feeds FOR EACH ROW
    WHEN ((OLD.workspace_id, OLD.state) IS DISTINCT FROM (NEW.workspace_id, NEW.state)) EXECUTE FUNCTION count_changed_feed();

INSERT INTO feed_counts (workspace_id, state, feeds) SELECT workspace_id, state, count(*) FROM feeds GROUP BY workspace_id, state;

DROP INDEX feeds_counted;
