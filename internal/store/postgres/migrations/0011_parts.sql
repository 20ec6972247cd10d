-- How many parts a refresh has, such as windows of time, and how many of them are done.
ALTER TABLE refreshes ADD COLUMN parts bigint NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN parts_done bigint NOT NULL DEFAULT 0;
