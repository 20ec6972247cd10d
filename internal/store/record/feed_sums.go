package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// keepFile notes the sums of a file that a version has. Those that are known stay.
func (s Store) keepFile(file *feedmill.VersionFile) Statement {
	return Statement{
		`INSERT INTO file_sums (file, sha256, footer_sha256, checked_at) VALUES (?1, ?2, ?3, ` + s.d.Now + `) ON CONFLICT (file) DO NOTHING`,
		[]any{file.Name, file.Sums.SHA256, file.Sums.Footer},
	}
}

// forgetSums removes the sums of a file that no version has.
func forgetSums(name string) Statement {
	return Statement{`DELETE FROM file_sums WHERE file = ?1 AND NOT EXISTS (SELECT 1 FROM version_files v WHERE v.file = ?1)`, []any{name}}
}

// StoredFile finds a file that versions have.
func (s Store) StoredFile(ctx context.Context, name string) (f feedmill.StoredFile, err error) {
	f.Name = name
	err = s.db.One(ctx, `SELECT s.sha256, s.footer_sha256, v.feed_id, min(v.number), max(v.number) FROM file_sums s JOIN version_files v ON v.file = s.file
		WHERE s.file = ?1 GROUP BY s.sha256, s.footer_sha256, v.feed_id ORDER BY v.feed_id LIMIT 1`, []any{name}, &f.Sums.SHA256, &f.Sums.Footer, &f.Feed, &f.First, &f.Last)
	return f, err
}

// SourceFiles lists the files of the current versions of a source's feeds.
func (s Store) SourceFiles(ctx context.Context, workspace, source feedmill.ID) (names []string, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT DISTINCT v.file FROM feeds f JOIN version_files v ON v.workspace_id = f.workspace_id AND v.feed_id = f.id AND v.number = f.version
		WHERE f.workspace_id = ?1 AND f.source_id = ?2 AND v.file NOT LIKE ?3 ORDER BY v.file`, workspace, source, "%"+feedmill.ExportSuffix)
	return names, err
}

// CurrentFiles lists the files of the current versions of all feeds behind a name, by their names.
func (s Store) CurrentFiles(ctx context.Context, after string, limit int) (names []string, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT DISTINCT v.file FROM feeds f JOIN version_files v ON v.workspace_id = f.workspace_id AND v.feed_id = f.id AND v.number = f.version
		WHERE v.file > ?1 AND v.file NOT LIKE ?2 ORDER BY v.file LIMIT ?3`, after, "%"+feedmill.ExportSuffix, limit)
	return names, err
}

// NoteVerified notes that a file was read in full, with its sums where they were not
// known.
func (s Store) NoteVerified(ctx context.Context, name string, sums feedmill.FileSums) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{
			`UPDATE file_sums SET sha256 = CASE WHEN sha256 = '' THEN ?2 ELSE sha256 END,
				footer_sha256 = CASE WHEN sha256 = '' THEN ?3 ELSE footer_sha256 END, checked_at = ` + s.d.Now + ` WHERE file = ?1`,
			[]any{name, sums.SHA256, sums.Footer},
		})
	})
}

// UnverifiedFiles lists files behind a name that were not read in full for
// [feedmill.ScrubEvery], by their names.
func (s Store) UnverifiedFiles(ctx context.Context, after string, limit int) (names []string, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT file FROM file_sums WHERE file > ?1 AND `+s.d.Plus("checked_at", feedmill.ScrubEvery)+` <= `+s.d.Now+` ORDER BY file LIMIT ?2`, after, limit)
	return names, err
}
