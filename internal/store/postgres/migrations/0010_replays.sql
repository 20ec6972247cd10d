-- What a replay selects, how fast it goes, and how far it has come. While it is
-- counted, counting is the last record that is.
ALTER TABLE replays ADD COLUMN selection text NOT NULL DEFAULT '';
UPDATE replays SET selection = CASE array_length(states, 1) WHEN 1 THEN states[1] ELSE 'undelivered' END;
ALTER TABLE replays DROP COLUMN states;
ALTER TABLE replays ADD COLUMN rate integer NOT NULL DEFAULT 0, ADD COLUMN dry_run boolean NOT NULL DEFAULT false,
    ADD COLUMN total integer NOT NULL DEFAULT 0, ADD COLUMN counting text COLLATE "C", ADD COLUMN bound text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN next_at timestamptz NOT NULL DEFAULT '-infinity', ADD COLUMN cancelled boolean NOT NULL DEFAULT false,
    ADD COLUMN reason text NOT NULL DEFAULT '';
