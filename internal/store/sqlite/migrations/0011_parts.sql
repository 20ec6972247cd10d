-- How many parts a refresh has, such as windows of time, and how many of them are done.
ALTER TABLE refreshes ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN parts_done INTEGER NOT NULL DEFAULT 0;
