package record

import (
	"context"
	"math"

	"github.com/feedmill/feedmill"
)

// insertVersion writes a version. The one that it pushes out of the newest is
// from then on kept for its age alone.
func (s Store) insertVersion(workspace feedmill.ID, v feedmill.FeedVersion) []Statement {
	return []Statement{
		insert("feed_versions", `workspace_id, `+VersionColumns, append([]any{workspace}, Version(&v, s.d)...)...),
		{
			`UPDATE feed_versions SET stale_at = ` + s.d.Plus("created_at", feedmill.KeepVersionsFor) + ` WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`,
			[]any{workspace, v.Feed, v.Number - feedmill.KeepVersions},
		},
	}
}

const versionsOf = `SELECT ` + VersionColumns + ` FROM feed_versions v WHERE workspace_id = ?1 AND feed_id = ?2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = ?1 AND f.id = ?2) `

// FeedVersion finds a version of a feed that is kept.
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

// FeedVersions lists versions that are kept, newest first.
func (s Store) FeedVersions(ctx context.Context, workspace, feed feedmill.ID, before int64, limit int) ([]feedmill.FeedVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	all, err := list(ctx, s.db, s, Version, versionsOf+`AND number < ?3 ORDER BY number DESC LIMIT ?4`, workspace, feed, before, limit)
	if err != nil || len(all) == 0 {
		return all, err
	}
	labelled := make([]*feedmill.FeedVersion, len(all))
	for i := range all {
		labelled[i] = &all[i]
	}
	return all, s.label(ctx, workspace, feed, labelled...)
}

// StoredFiles adds up the tables that a workspace has on disk, those that are not
// swept yet included, and names the uploads that are kept beside them.
func (s Store) StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, originals []string, err error) {
	seen := make(map[string]bool)
	err = s.db.Each(ctx, func(row Row) error {
		var size int64
		var original string
		if err := row.Scan(&size, nullable(&original)); err != nil {
			return err
		}
		bytes += size
		if original != "" && !seen[original] {
			seen[original] = true
			originals = append(originals, original)
		}
		return nil
	}, `SELECT byte_size, original FROM feed_versions WHERE workspace_id = ?1`, workspace)
	return bytes, originals, err
}
