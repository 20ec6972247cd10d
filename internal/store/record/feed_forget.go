package record

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// unreferenced holds for a file that no version, no refresh and no table has. Nothing else
// decides which files may be deleted. The names are those of n.
const unreferenced = `NOT EXISTS (SELECT 1 FROM version_files WHERE file = n.name)
	AND NOT EXISTS (SELECT 1 FROM feed_versions WHERE original = n.name)
	AND NOT EXISTS (SELECT 1 FROM refreshes WHERE rejects = n.name)
	AND NOT EXISTS (SELECT 1 FROM table_files WHERE file = n.name)
	AND NOT EXISTS (SELECT 1 FROM previews WHERE file = n.name)
	AND NOT EXISTS (SELECT 1 FROM stage_parts WHERE file = n.name)`

// UnusedFiles are those of the names that no version and no refresh has.
func (s Store) UnusedFiles(ctx context.Context, names []string) ([]string, error) {
	return s.unusedFiles(ctx, s.db, names)
}

func (s Store) unusedFiles(ctx context.Context, r Reader, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	unused := make(map[string]bool)
	err := r.Each(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		unused[name] = true
		return err
	}, `SELECT name FROM `+s.d.Names+` n WHERE `+unreferenced, JSON(&names))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !unused[name] }), err
}

// ForgetVersions removes versions that need not be kept any more, and returns
// the files that nothing has any more. It passes over those that another
// replica is at.
func (s Store) ForgetVersions(ctx context.Context, now time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error) {
	const stale = `stale_at IS NOT NULL AND stale_at <= ?1 ORDER BY stale_at`
	return s.forgetRows(ctx, forgetting{
		table: "feed_versions", key: "workspace_id, feed_id, number", files: "files, original, original_bytes",
		where: stale,
		// In a transaction before, because others lock a feed before its versions.
		first: `UPDATE feeds SET table_changes = table_changes + 1 WHERE (workspace_id, id) IN (SELECT workspace_id, feed_id FROM feed_versions WHERE ` + stale + ` LIMIT ?2 + 0)`,
	}, s.time(now), limit)
}

// ForgetRefreshes removes refreshes that began before the time given, but for
// the last one of each feed and those that have not ended, and returns the files
// that nothing has any more.
func (s Store) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error) {
	return s.forgetRows(ctx, forgetting{
		table: "refreshes", key: "workspace_id, feed_id, id", files: "'[]', rejects, -1",
		where: s.d.Superseded + ` AND id < ?1 AND (state NOT IN ('pending', 'running')
			OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = refreshes.workspace_id AND f.id = refreshes.feed_id)) ORDER BY id`,
	}, feedmill.FirstID(feedmill.PrefixRefresh, before), limit)
}

// forgetting says which rows of a table are removed, and which of their columns name
// files: a list, and one more with its size. first, if it is not empty, is run before.
type forgetting struct{ table, key, files, where, first string }

// forgetRows removes rows, and returns those of their files that no row has any more.
// Where two replicas each remove one of two rows with the same file, neither
// returns it.
func (s Store) forgetRows(ctx context.Context, f forgetting, bound any, limit int) (files []feedmill.UnreferencedFile, more bool, err error) {
	find := ` FROM ` + f.table + ` WHERE ` + f.where + ` LIMIT ?2`
	var some bool
	if err := s.db.One(ctx, `SELECT EXISTS (SELECT 1`+find+`)`, []any{bound, 1}, &some); err != nil || !some {
		return nil, false, err // the common case takes no turn of the writers
	}
	if f.first != "" {
		err := s.db.Write(ctx, func(tx Tx) error { return tx.Send(ctx, Statement{f.first, []any{bound, limit}}) })
		if err != nil {
			return nil, false, err
		}
	}
	err = s.db.Write(ctx, func(tx Tx) error {
		removed, sizes := 0, make(map[string]int64)
		scan := func(row Row) error {
			var listed []feedmill.VersionFile
			var other string
			var bytes int64
			err := row.Scan(Files{&listed}, &other, &bytes)
			for _, file := range listed {
				sizes[file.Name] = file.Bytes
			}
			if other != "" {
				sizes[other] = bytes
			}
			removed++
			return err
		}
		err := tx.Each(ctx, scan, `DELETE FROM `+f.table+` WHERE (`+f.key+`) IN (SELECT `+f.key+find+s.d.SkipLocked+`) RETURNING `+f.files, bound, limit)
		if err != nil {
			return err
		}
		unused, err := s.unusedFiles(ctx, tx, slices.Sorted(maps.Keys(sizes)))
		for _, name := range unused {
			files = append(files, feedmill.UnreferencedFile{Name: name, Bytes: sizes[name]})
		}
		more = removed == limit
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return files, more, nil
}
