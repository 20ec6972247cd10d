-- The size of an upload that is kept beside a version. It is negative until the originals
-- of earlier releases are measured.
ALTER TABLE feed_versions ADD COLUMN original_bytes bigint NOT NULL DEFAULT -1;
