-- Where the files of this store are after they were moved: an id that the location also holds, and
-- its address without credentials. Both are empty for files that were never moved.
ALTER TABLE store_identity ADD COLUMN location text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE store_identity ADD COLUMN place text COLLATE "C" NOT NULL DEFAULT '';
-- The move for which no new files are written, until it ends or moving_until.
ALTER TABLE store_identity ADD COLUMN moving text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE store_identity ADD COLUMN moving_until timestamptz NOT NULL DEFAULT '-infinity';
