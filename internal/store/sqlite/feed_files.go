package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// ForgetVersions removes versions that need not be kept any more, and returns
// the files that nothing has any more.
func (db *DB) ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit,
		`SELECT rowid, files, original FROM feed_versions INDEXED BY feed_versions_stale WHERE stale_at IS NOT NULL AND stale_at <= ? ORDER BY stale_at LIMIT ?`,
		toMillis(now), `DELETE FROM feed_versions WHERE rowid = ?`)
}

// ForgetRefreshes removes refreshes that began before the time given, but for
// the last one of each feed and those that have not ended, and returns the files
// that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit,
		`SELECT rowid, '[]', rejects FROM refreshes r INDEXED BY refreshes_superseded WHERE superseded = 1 AND id < ?
			AND (state NOT IN ('pending', 'running') OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = r.workspace_id AND f.id = r.feed_id))
			ORDER BY id LIMIT ?`,
		feedmill.FirstID(feedmill.PrefixRefresh, before), `DELETE FROM refreshes WHERE rowid = ?`)
}

// forgotten is a version or a refresh to remove, with the files that it has.
type forgotten struct {
	row   int64
	files []feedmill.VersionFile
	other string
}

// forgetRows removes the rows that find finds with the arguments bound and limit,
// and returns those of their files that no row has any more.
func (db *DB) forgetRows(ctx context.Context, limit int, find string, bound any, remove string) (files []string, more bool, err error) {
	var some bool
	err = db.row(ctx, `SELECT EXISTS (`+find+`)`, bound, 1).Scan(&some)
	if err != nil || !some {
		return nil, false, translate(err) // the common case takes no turn of the writers
	}
	err = db.write(ctx, func(tx *tx) error {
		rows, err := tx.rows(find, bound, limit)
		old, err := all(rows, err, func(row record.Row) (f forgotten, err error) {
			err = row.Scan(&f.row, record.Files{Of: &f.files}, &f.other)
			return f, err
		})
		if err != nil {
			return err
		}
		var named []string
		for _, f := range old {
			if _, err := tx.exec(remove, f.row); err != nil {
				return err
			}
			named = append(named, f.other)
			for _, file := range f.files {
				named = append(named, file.Name)
			}
		}
		slices.Sort(named)
		for _, name := range slices.Compact(named) {
			var used bool
			if err := tx.row(usesFile, name).Scan(&used); err != nil {
				return translate(err)
			}
			if name != "" && !used {
				files = append(files, name)
			}
		}
		more = len(old) == limit
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return files, more, nil
}

// usesFile says whether a version or a refresh has a file.
const usesFile = `SELECT EXISTS (SELECT 1 FROM version_files WHERE file = ?1)
	OR EXISTS (SELECT 1 FROM feed_versions WHERE original = ?1) OR EXISTS (SELECT 1 FROM refreshes WHERE rejects = ?1)`

// UnusedFiles are those of the names that no version and no refresh has.
func (db *DB) UnusedFiles(ctx context.Context, names []string) (unused []string, err error) {
	for _, name := range names {
		var used bool
		if err := db.row(ctx, usesFile, name).Scan(&used); err != nil {
			return nil, translate(err)
		}
		if !used {
			unused = append(unused, name)
		}
	}
	return unused, nil
}
