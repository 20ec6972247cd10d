-- Who holds the lease of a source, so that a process that takes its place can release it.
ALTER TABLE sources ADD COLUMN leased_by TEXT NOT NULL DEFAULT '';
