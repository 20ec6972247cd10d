-- What came of each check of the rows of a refresh. Refreshes of earlier releases have none.
ALTER TABLE refreshes ADD COLUMN checks text NOT NULL DEFAULT '[]';
