-- The parts of what is staged of fetches, in the order of their numbers.
CREATE TABLE stage_parts (
    source_id    text COLLATE "C" NOT NULL,
    number       integer NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    run          bigint NOT NULL, -- the last run that used the part
    file         text COLLATE "C" NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (source_id, number)
);
CREATE UNIQUE INDEX stage_parts_file ON stage_parts (file);
