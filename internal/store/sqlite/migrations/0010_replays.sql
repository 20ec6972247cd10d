-- What a replay selects, how fast it goes, and how far it has come. While it is
-- counted, counting is the last record that is.
ALTER TABLE replays ADD COLUMN selection TEXT NOT NULL DEFAULT '';
UPDATE replays SET selection = CASE states WHEN 'exhausted discarded' THEN 'undelivered' ELSE states END;
ALTER TABLE replays DROP COLUMN states;
ALTER TABLE replays ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replays ADD COLUMN dry_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replays ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replays ADD COLUMN counting TEXT;
ALTER TABLE replays ADD COLUMN next_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replays ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replays ADD COLUMN reason TEXT NOT NULL DEFAULT '';
