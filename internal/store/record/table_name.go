package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// checkTableName refuses a table name that another feed of the workspace has, if it is not the
// one that the feed had. A unique index refuses what two transactions write at the same time.
func (s Store) checkTableName(ctx context.Context, tx Tx, f feedmill.Feed, was string) error {
	if f.TableName == was || f.TableName == "" {
		return nil
	}
	var taken bool
	err := tx.One(ctx, `SELECT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = ?1 AND table_name = ?2 AND id <> ?3)`, []any{f.Workspace, f.TableName, f.ID}, &taken)
	if err == nil && taken {
		err = feedmill.TableNameTaken(f.TableName)
	}
	return err
}

// TableNames lists the table names of a workspace that are base or begin with base and an
// underscore.
func (s Store) TableNames(ctx context.Context, workspace feedmill.ID, base string) ([]string, error) {
	return s.tableNames(ctx, s.db, workspace, base)
}

func (s Store) tableNames(ctx context.Context, r Reader, workspace feedmill.ID, base string) (names []string, err error) {
	err = r.Each(ctx, scanNames(&names), `SELECT table_name FROM feeds WHERE workspace_id = ?1 AND (table_name = ?2 OR substr(table_name, 1, length(?2) + 1) = ?2 || '_') ORDER BY table_name`, workspace, base)
	return names, err
}

// NameTables gives up to limit feeds that have no table name theirs, and counts them.
func (s Store) NameTables(ctx context.Context, limit int) (named int, err error) {
	type feed struct {
		workspace, id feedmill.ID
		name          string
	}
	var found []feed
	err = s.db.Each(ctx, func(row Row) error {
		var f feed
		err := row.Scan(&f.workspace, &f.id, &f.name)
		found = append(found, f)
		return err
	}, `SELECT workspace_id, id, name FROM feeds WHERE table_name = '' ORDER BY id LIMIT ?1`, limit)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx Tx) error {
		for _, f := range found {
			base := feedmill.DefaultTableName(f.name)
			taken, err := s.tableNames(ctx, tx, f.workspace, base)
			if err != nil {
				return err
			}
			name := feedmill.FreeTableName(base, f.id, taken)
			if _, err := tx.Run(ctx, `UPDATE feeds SET table_name = ?3 WHERE workspace_id = ?1 AND id = ?2 AND table_name = ''`, f.workspace, f.id, name); err != nil {
				return err
			}
		}
		return nil
	})
	return len(found), err
}
