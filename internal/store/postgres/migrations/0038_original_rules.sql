-- below 7
-- The first release, whose databases have version 6, read data by rules of its own.
-- Releases after it changed them before definitions had a version.
UPDATE feeds SET rules = -1;
UPDATE sources SET rules = -1;
UPDATE feed_versions SET rules = -1;
