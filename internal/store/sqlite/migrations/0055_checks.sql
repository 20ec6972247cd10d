-- What came of each check of the rows of a refresh. Refreshes of earlier releases have none.
ALTER TABLE refreshes ADD COLUMN checks TEXT NOT NULL DEFAULT '[]';
