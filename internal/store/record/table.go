package record

import (
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// DueTables lists feeds that have changed since their tables were written and that nobody
// writes now.
func (s Store) DueTables(ctx context.Context, limit int) (due []feedmill.Table, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var t feedmill.Table
		err := row.Scan(&t.Workspace, &t.Feed)
		due = append(due, t)
		return err
	}, `SELECT f.workspace_id, f.id FROM feeds f WHERE f.table_changes > 0 AND f.version > 0
		AND NOT EXISTS (SELECT 1 FROM feed_tables t WHERE t.workspace_id = f.workspace_id AND t.feed_id = f.id AND `+s.claimed("t.")+`) ORDER BY f.id LIMIT ?1`, limit)
	return due, err
}

// claimed holds for a table that somebody writes.
func (s Store) claimed(prefix string) string {
	return prefix + `claimed_at IS NOT NULL AND ` + s.d.Plus(prefix+"claimed_at", feedmill.TableClaimTime) + ` > ` + s.d.Now
}

// ClaimTable claims the table of a feed that has changed. It is [feedmill.ErrNotFound] if the
// feed has not, or another writer has the claim.
func (s Store) ClaimTable(ctx context.Context, workspace, feed feedmill.ID) (c feedmill.TableClaim, err error) {
	c.Workspace, c.Feed = workspace, feed
	err = s.db.Write(ctx, func(tx Tx) error {
		err := tx.One(ctx, `SELECT table_changes FROM feeds WHERE workspace_id = ?1 AND id = ?2 AND table_changes > 0 AND version > 0`, []any{workspace, feed}, &c.Changes)
		if err != nil {
			return err
		}
		return tx.One(ctx, `INSERT INTO feed_tables (workspace_id, feed_id, sequence, metadata, version, claimed_at) VALUES (?1, ?2, 1, '', 0, `+s.d.Now+`)
			ON CONFLICT (workspace_id, feed_id) DO UPDATE SET sequence = feed_tables.sequence + 1, claimed_at = excluded.claimed_at WHERE NOT (`+s.claimed("feed_tables.")+`)
			RETURNING sequence, metadata, version, claimed_at`, []any{workspace, feed}, &c.Sequence, &c.Metadata, &c.Version, s.d.Time(&c.At))
	})
	return c, err
}

// CommitTable makes a metadata file the current one, and returns the files that the table no
// longer has. Without a metadata file the table stays as it is. It is [feedmill.ErrConflict]
// if the claim was lost or one of the files is being deleted.
func (s Store) CommitTable(ctx context.Context, c feedmill.TableClaim, files feedmill.TableFiles) (gone []string, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		gone = nil
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, c.Workspace, c.Feed); err != nil {
			return err
		}
		n, err := tx.Run(ctx, `UPDATE feeds SET table_changes = CASE WHEN table_changes = ?3 THEN 0 ELSE table_changes END WHERE workspace_id = ?1 AND id = ?2`, c.Workspace, c.Feed, c.Changes)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		n, err = tx.Run(ctx, `UPDATE feed_tables SET claimed_at = NULL WHERE workspace_id = ?1 AND feed_id = ?2 AND sequence = ?3`, c.Workspace, c.Feed, c.Sequence)
		if err := orNone(n, err, feedmill.ErrConflict); err != nil || files.Metadata == "" {
			return err
		}
		var had []string
		if err := tx.Each(ctx, scanNames(&had), `SELECT file FROM table_files WHERE workspace_id = ?1 AND feed_id = ?2`, c.Workspace, c.Feed); err != nil {
			return err
		}
		var added []string
		added, gone = compareNames(had, files.Names)
		all := append(s.useObjects(c.Workspace, slices.Clone(added)...), Statement{
			`UPDATE feed_tables SET metadata = ?3, version = ?4 WHERE workspace_id = ?1 AND feed_id = ?2`, []any{c.Workspace, c.Feed, files.Metadata, files.Version},
		})
		for _, name := range added {
			all = append(all, insert("table_files", `file, workspace_id, feed_id`, name, c.Workspace, c.Feed))
		}
		if len(gone) > 0 {
			all = append(all, Statement{`DELETE FROM table_files WHERE file IN (SELECT name FROM ` + s.d.Names + ` n)`, []any{JSON(&gone)}})
		}
		return tx.Send(ctx, all...)
	})
	return gone, err
}

// compareNames are the names that were added and those that are gone.
func compareNames(had, has []string) (added, gone []string) {
	slices.Sort(had)
	has = slices.Compact(slices.Sorted(slices.Values(has)))
	for _, name := range has {
		if _, ok := slices.BinarySearch(had, name); !ok {
			added = append(added, name)
		}
	}
	for _, name := range had {
		if _, ok := slices.BinarySearch(has, name); !ok {
			gone = append(gone, name)
		}
	}
	return added, gone
}

const tablesOf = ` FROM feed_tables t JOIN feeds f ON f.workspace_id = t.workspace_id AND f.id = t.feed_id WHERE t.workspace_id = ?1 AND t.metadata <> '' AND `

// FeedTable finds the table of a feed that has one.
func (s Store) FeedTable(ctx context.Context, workspace, feed feedmill.ID) (t feedmill.Table, err error) {
	t.Workspace, t.Feed = workspace, feed
	err = s.db.One(ctx, `SELECT t.metadata, t.version`+tablesOf+`t.feed_id = ?2`, []any{workspace, feed}, &t.Metadata, &t.Version)
	return t, err
}

// TableFeed finds the feed of a table name.
func (s Store) TableFeed(ctx context.Context, workspace feedmill.ID, name string) (feed feedmill.ID, err error) {
	err = s.db.One(ctx, `SELECT id FROM feeds WHERE workspace_id = ?1 AND table_name = ?2 AND table_name <> ''`, []any{workspace, name}, &feed)
	return feed, err
}

// NamedTables lists tables of a workspace by their names, behind one.
func (s Store) NamedTables(ctx context.Context, workspace feedmill.ID, after string, limit int) (all []feedmill.NamedTable, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var t feedmill.NamedTable
		err := row.Scan(&t.Name, &t.Feed)
		all = append(all, t)
		return err
	}, `SELECT f.table_name, f.id`+tablesOf+`f.table_name > ?2 ORDER BY f.table_name LIMIT ?3`, workspace, after, limit)
	return all, err
}

// ForgetTables removes the records of all tables, so that they are written anew. It reports
// whether there were any.
func (s Store) ForgetTables(ctx context.Context) (forgot bool, err error) {
	if err := s.db.One(ctx, `SELECT EXISTS (SELECT 1 FROM feed_tables)`, nil, &forgot); err != nil || !forgot {
		return false, err
	}
	return true, s.db.Write(ctx, func(tx Tx) error { return tx.Send(ctx, forgetTables...) })
}

var forgetTables = []Statement{
	{`UPDATE feeds SET table_changes = table_changes + 1 WHERE EXISTS (SELECT 1 FROM feed_tables t WHERE t.workspace_id = feeds.workspace_id AND t.feed_id = feeds.id)`, nil},
	{`DELETE FROM feed_tables`, nil},
	{`DELETE FROM table_files`, nil},
}

// forgetTable removes the records of the table of a feed.
func forgetTable(workspace, feed feedmill.ID) []Statement {
	args := []any{workspace, feed}
	return []Statement{
		{`DELETE FROM feed_tables WHERE workspace_id = ?1 AND feed_id = ?2`, args},
		{`DELETE FROM table_files WHERE workspace_id = ?1 AND feed_id = ?2`, args},
	}
}

// noteTable counts a change of a feed that its table is to show.
func noteTable(workspace, feed feedmill.ID) Statement {
	return Statement{`UPDATE feeds SET table_changes = table_changes + 1 WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, feed}}
}

// countTableChange adds to the update of a feed that another version, or other columns, change
// its table. The values of version and columns are the fourth and the fifth.
func countTableChange(update Statement) Statement {
	update.SQL = strings.Replace(update.SQL, ` WHERE `, `, table_changes = table_changes + CASE WHEN version <> ?4 OR columns <> ?5 THEN 1 ELSE 0 END WHERE `, 1)
	return update
}
