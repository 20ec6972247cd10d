-- Rows of a load that were not stored because a later row has their key, or because the
-- feed had them already. Refreshes of earlier releases counted both as stored.
ALTER TABLE refreshes ADD COLUMN rows_superseded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refreshes ADD COLUMN rows_known INTEGER NOT NULL DEFAULT 0;
