-- The sums that the files of versions are verified with, empty until a file of an earlier
-- release is read in full, and when that was last done.
CREATE TABLE file_sums (
    file          TEXT NOT NULL PRIMARY KEY,
    sha256        TEXT NOT NULL,
    footer_sha256 TEXT NOT NULL,
    checked_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO file_sums (file, sha256, footer_sha256, checked_at) SELECT DISTINCT file, '', '', 0 FROM version_files;
