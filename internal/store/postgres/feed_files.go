package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// ForgetVersions removes versions that need not be kept any more, and returns
// the files that nothing has any more. It passes over those that another
// replica is at.
func (db *DB) ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit, `DELETE FROM feed_versions WHERE (workspace_id, feed_id, number) IN (
		SELECT workspace_id, feed_id, number FROM feed_versions WHERE stale_at <= $1 ORDER BY stale_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING files, original`, now)
}

// ForgetRefreshes removes refreshes that began before the time given, but for
// the last one of each feed and those that have not ended, and returns the files
// that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit, `DELETE FROM refreshes WHERE (workspace_id, feed_id, id) IN (
		SELECT workspace_id, feed_id, id FROM refreshes r WHERE superseded AND id < $1
			AND (state NOT IN ('pending', 'running') OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = r.workspace_id AND f.id = r.feed_id))
			ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING '[]', rejects`, feedmill.FirstID(feedmill.PrefixRefresh, before))
}

// forgotten is the files of a version or a refresh that was removed.
type forgotten struct {
	files []feedmill.VersionFile
	other string
}

// forgetRows runs remove, which returns the files of each row, a list and one more, with the
// arguments bound and limit, and returns those files that no row has any more.
// Where two replicas each remove one of two rows with the same file, neither
// returns it.
func (db *DB) forgetRows(ctx context.Context, limit int, remove string, bound any) (files []string, more bool, err error) {
	err = db.write(ctx, func(tx tx) error {
		rows, err := tx.Query(ctx, remove, bound, limit)
		removed, err := all(rows, translate(err), func(row record.Row) (f forgotten, err error) {
			return f, row.Scan(record.Files{Of: &f.files}, &f.other)
		})
		if err != nil || len(removed) == 0 {
			return err
		}
		more = len(removed) == limit
		var named []string
		for _, f := range removed {
			named = append(named, f.other)
			for _, file := range f.files {
				named = append(named, file.Name)
			}
		}
		slices.Sort(named)
		unused, err := tx.Query(ctx, unusedFiles, slices.Compact(named))
		files, err = all(unused, translate(err), scanName)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return files, more, nil
}

// unusedFiles are the names that no version and no refresh has.
const unusedFiles = `SELECT n.name FROM unnest($1::text[]) WITH ORDINALITY AS n (name, number) WHERE n.name <> ''
	AND NOT EXISTS (SELECT 1 FROM version_files WHERE file = n.name)
	AND NOT EXISTS (SELECT 1 FROM feed_versions WHERE original = n.name)
	AND NOT EXISTS (SELECT 1 FROM refreshes WHERE rejects = n.name) ORDER BY n.number`

// UnusedFiles are those of the names that no version and no refresh has.
func (db *DB) UnusedFiles(ctx context.Context, names []string) ([]string, error) {
	rows, err := db.rows(ctx, unusedFiles, names)
	return all(rows, err, scanName)
}

func scanName(row record.Row) (name string, err error) {
	err = row.Scan(&name)
	return name, err
}
