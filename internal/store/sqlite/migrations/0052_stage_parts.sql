-- The parts of what is staged of fetches, in the order of their numbers.
CREATE TABLE stage_parts (
    source_id    TEXT NOT NULL,
    number       INTEGER NOT NULL,
    workspace_id TEXT NOT NULL,
    run          INTEGER NOT NULL, -- the last run that used the part
    file         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (source_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX stage_parts_file ON stage_parts (file);
