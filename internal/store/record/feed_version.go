package record

import (
	"context"
	"math"
	"time"

	"github.com/feedmill/feedmill"
)

// insertVersion writes a version of a feed. The one that it pushes out of the
// newest is from then on kept for its age alone.
func (s Store) insertVersion(f *feedmill.Feed, v feedmill.FeedVersion) []Statement {
	all := []Statement{
		insert("feed_versions", `workspace_id, file_count, `+VersionColumns, append([]any{f.Workspace, int64(len(v.Files))}, Version(&v, s.d)...)...),
		{
			`UPDATE feed_versions SET stale_at = ` + s.staleAt(f.Keep, "?4") + ` WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3 AND NOT pinned`,
			[]any{f.Workspace, v.Feed, v.Number - int64(f.Keep.Rule().Versions), s.time(v.CreatedAt)},
		},
	}
	all = append(all, Statement{
		`UPDATE feed_versions SET file_count = 0 WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`, []any{f.Workspace, v.Feed, v.Number - 1},
	})
	return append(append(all, s.useObjects(f.Workspace, v.Original)...), s.useFiles(f.Workspace, &v)...)
}

// useFiles notes which files a version has.
func (s Store) useFiles(workspace feedmill.ID, v *feedmill.FeedVersion) (all []Statement) {
	all = s.useObjects(workspace, v.FileNames()...)
	for _, file := range v.Files {
		use := insert("version_files", `file, workspace_id, feed_id, number, bytes`, file.Name, workspace, v.Feed, v.Number, file.Bytes)
		use.SQL += ` ON CONFLICT DO NOTHING`
		all = append(all, use, s.keepFile(&file))
	}
	return all
}

// staleAt is when a version is not kept any more for its age, now at the earliest.
func (s Store) staleAt(k feedmill.Keep, now string) string {
	end := s.d.Plus("created_at", k.For())
	return `CASE WHEN ` + end + ` > ` + now + ` THEN ` + end + ` ELSE ` + now + ` END`
}

// keepOthers has other versions of a feed kept where its rule has changed.
func (s Store) keepOthers(was, f *feedmill.Feed) []Statement {
	if was.Keep.Rule() == f.Keep.Rule() || f.Version == 0 {
		return nil
	}
	return []Statement{s.restale(f, 0, f.UpdatedAt)}
}

// restale decides anew until when versions of a feed are kept: that of a number,
// or all where it is 0. What is not kept any more stays so.
func (s Store) restale(f *feedmill.Feed, number int64, at time.Time) Statement {
	return Statement{
		`UPDATE feed_versions SET stale_at = CASE WHEN pinned OR number > ?3 THEN NULL ELSE ` + s.staleAt(f.Keep, "?4") + ` END
			WHERE workspace_id = ?1 AND feed_id = ?2 AND (stale_at IS NULL OR stale_at > ?4) AND (?5 = 0 OR number = ?5)`,
		[]any{f.Workspace, f.ID, f.Version - int64(f.Keep.Rule().Versions), s.time(at), number},
	}
}

const versionsOf = `SELECT ` + VersionColumns + ` FROM feed_versions v WHERE workspace_id = ?1 AND feed_id = ?2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = ?1 AND f.id = ?2) `

// FeedVersion finds a version of a feed that is there.
func (s Store) FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error) {
	v, err := one(ctx, s.db, s, Version, versionsOf+`AND number = ?3`, workspace, feed, number)
	if err != nil {
		return feedmill.FeedVersion{}, err
	}
	err = s.label(ctx, workspace, feed, &v)
	return v, err
}

// label gives versions of a feed the names that their columns have now.
func (s Store) label(ctx context.Context, workspace, feed feedmill.ID, versions ...*feedmill.FeedVersion) error {
	var said []feedmill.Column
	err := s.db.One(ctx, `SELECT columns FROM feeds WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, feed}, columns{&said})
	for _, v := range versions {
		v.Columns = feedmill.Label(v.Columns, said)
	}
	return err
}

// FeedVersions lists versions that are kept at a time, newest first.
func (s Store) FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	all, err := list(ctx, s.db, s, Version, versionsOf+`AND number < ?3 AND (stale_at IS NULL OR stale_at > ?4) ORDER BY number DESC LIMIT ?5`,
		workspace, feed, before, s.time(at), limit)
	if err != nil || len(all) == 0 {
		return all, err
	}
	labelled := make([]*feedmill.FeedVersion, len(all))
	for i := range all {
		labelled[i] = &all[i]
	}
	return all, s.label(ctx, workspace, feed, labelled...)
}

// PinVersion pins a version that is kept at a time, or lets it go.
func (s Store) PinVersion(ctx context.Context, workspace, feed feedmill.ID, number int64, pinned bool, at time.Time) (v feedmill.FeedVersion, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, workspace, feed); err != nil {
			return err
		}
		f, err := s.oneFeed(ctx, tx, workspace, feed)
		if err != nil {
			return err
		}
		n, err := tx.Run(ctx, `UPDATE feed_versions SET pinned = ?4 WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3 AND (stale_at IS NULL OR stale_at > ?5)`,
			workspace, feed, number, pinned, s.time(at))
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		if err := tx.Send(ctx, append([]Statement{s.restale(&f, number, at)}, Audited(ctx, s.d, workspace, feed)...)...); err != nil {
			return err
		}
		v, err = one(ctx, tx, s, Version, versionsOf+`AND number = ?3`, workspace, feed, number)
		return err
	})
	if err != nil {
		return feedmill.FeedVersion{}, err
	}
	return v, nil
}

// StoredFiles adds up the files that a workspace has on disk, those that are not
// swept yet included, and names the originals whose sizes are not known.
func (s Store) StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, unmeasured []string, err error) {
	const originals = `SELECT original, max(original_bytes) AS bytes FROM feed_versions WHERE workspace_id = ?1 AND original <> '' GROUP BY original`
	err = s.db.One(ctx, `SELECT COALESCE(sum(bytes), 0) FROM (SELECT DISTINCT file, bytes FROM version_files WHERE workspace_id = ?1
		UNION ALL SELECT original, bytes FROM (`+originals+`) o WHERE bytes > 0) f`, []any{workspace}, &bytes)
	if err != nil {
		return 0, nil, err
	}
	err = s.db.Each(ctx, func(row Row) error {
		var original string
		err := row.Scan(&original)
		unmeasured = append(unmeasured, original)
		return err
	}, `SELECT original FROM (`+originals+`) o WHERE bytes < 0`, workspace)
	return bytes, unmeasured, err
}

// MeasureOriginal notes the size of an original that an earlier release stored.
func (s Store) MeasureOriginal(ctx context.Context, original string, bytes int64) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE feed_versions SET original_bytes = ?2 WHERE original = ?1`, original, bytes)
		return err
	})
}
