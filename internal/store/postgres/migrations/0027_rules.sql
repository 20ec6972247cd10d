-- The version of the rules that a definition was created under: 1 for all that
-- are stored already. Pins are what the names of a query were resolved to.
ALTER TABLE feeds ADD COLUMN rules integer NOT NULL DEFAULT 1;
ALTER TABLE feeds ADD COLUMN pins text NOT NULL DEFAULT '{}';
ALTER TABLE sources ADD COLUMN rules integer NOT NULL DEFAULT 1;
ALTER TABLE feed_versions ADD COLUMN rules integer NOT NULL DEFAULT 1;
