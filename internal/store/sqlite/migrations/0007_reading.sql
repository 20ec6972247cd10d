-- How the data is written, as JSON text: what was found in it and what was said of it.
ALTER TABLE feeds ADD COLUMN found TEXT NOT NULL DEFAULT '{}';
ALTER TABLE feed_versions ADD COLUMN found TEXT NOT NULL DEFAULT '{}';
