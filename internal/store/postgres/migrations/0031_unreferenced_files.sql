-- Files that no version and no refresh has, since when, and whose they were. They
-- are deleted a day later, so that a backup of the records finds the files that
-- they name.
CREATE TABLE unreferenced_files (
    file         text COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL, -- empty once its feed is gone
    bytes        bigint NOT NULL,
    since        timestamptz NOT NULL
);
CREATE INDEX unreferenced_files_since ON unreferenced_files (since);
