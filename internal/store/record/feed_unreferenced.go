package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// MarkUnreferenced notes that nothing has some files from now on, by the clock of
// the database. A file that was noted before keeps its time.
func (s Store) MarkUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error {
	if len(files) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx Tx) error {
		all := make([]Statement, len(files))
		for i, f := range files {
			all[i] = Statement{
				`INSERT INTO unreferenced_files (file, workspace_id, bytes, since)
				VALUES (?1, COALESCE((SELECT workspace_id FROM feeds WHERE id = ?2 LIMIT 1), ''), ?3, ` + s.d.Now + `) ON CONFLICT (file) DO NOTHING`,
				[]any{f.Name, f.Feed(), f.Bytes},
			}
		}
		return tx.Send(ctx, all...)
	})
}

// ExpiredFiles lists the files that nothing has had for so long, oldest first, and
// those with which the files that wait for a workspace take more than most bytes;
// zero is any number.
func (s Store) ExpiredFiles(ctx context.Context, wait time.Duration, most int64, limit int) (names []string, err error) {
	scan := func(row Row) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}
	expired := s.d.Plus("since", wait) + ` <= ` + s.d.Now
	if most <= 0 {
		err = s.db.Each(ctx, scan, `SELECT file FROM unreferenced_files WHERE `+expired+` ORDER BY since, file LIMIT ?1`, limit)
		return names, err
	}
	err = s.db.Each(ctx, scan, `SELECT file FROM (SELECT file, since, sum(bytes) OVER (PARTITION BY workspace_id ORDER BY since DESC, file DESC) AS waiting
		FROM unreferenced_files) f WHERE waiting > ?1 OR `+expired+` ORDER BY since, file LIMIT ?2`, most, limit)
	return names, err
}

// ForgetUnreferenced removes the notes of files that are deleted, or that
// something has again, and the sums of those that nothing has.
func (s Store) ForgetUnreferenced(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx Tx) error {
		all := make([]Statement, 0, 2*len(names))
		for _, name := range names {
			all = append(all, Statement{`DELETE FROM unreferenced_files WHERE file = ?1`, []any{name}}, forgetSums(name))
		}
		return tx.Send(ctx, all...)
	})
}
