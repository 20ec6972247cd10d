-- The sums that the files of versions are verified with, empty until a file of an earlier
-- release is read in full, and when that was last done.
CREATE TABLE file_sums (
    file          text COLLATE "C" NOT NULL PRIMARY KEY,
    sha256        text NOT NULL,
    footer_sha256 text NOT NULL,
    checked_at    timestamptz NOT NULL
);
INSERT INTO file_sums (file, sha256, footer_sha256, checked_at) SELECT DISTINCT file, '', '', timestamptz 'epoch' FROM version_files;
