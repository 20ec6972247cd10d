package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// referenced holds for a file that a version or a refresh has. The names are those of n.
const referenced = `NOT (` + unreferenced + `)`

// StoreID returns the id of this store. The first call assigns the given one.
func (s Store) StoreID(ctx context.Context, assign string) (id string, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		err := tx.Send(ctx, Statement{`INSERT INTO store_identity (only_row, id) VALUES (1, ?1) ON CONFLICT DO NOTHING`, []any{assign}})
		if err != nil {
			return err
		}
		return tx.One(ctx, `SELECT id FROM store_identity WHERE only_row = 1`, nil, &id)
	})
	return id, err
}

// BeginObject records that a replica writes a file at a location of [Store.FileLocation]. A name
// that was used before is [feedmill.ErrConflict]. If the files are elsewhere, or are about to be
// moved, it is [feedmill.ErrUnavailable].
func (s Store) BeginObject(ctx context.Context, name, holder, location string) error {
	err := s.beginObject(ctx, name, holder, location)
	if errors.Is(err, errStaleMove) {
		if err := s.endStaleMove(ctx); err != nil {
			return err
		}
		err = s.beginObject(ctx, name, holder, location)
	}
	return refusedWrite(err)
}

func (s Store) beginObject(ctx context.Context, name, holder, location string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := s.mayWrite(ctx, tx, location); err != nil {
			return err
		}
		return tx.Send(ctx, Statement{
			`INSERT INTO objects (file, workspace_id, bytes, state, holder, since) VALUES (?1, '', -1, 'writing', ?2, ` + s.d.Now + `)`,
			[]any{name, holder},
		})
	})
}

// RenewObjects extends the lease of a replica on the files that it writes.
func (s Store) RenewObjects(ctx context.Context, holder string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`UPDATE objects SET since = ` + s.d.Now + ` WHERE state = 'writing' AND holder = ?1`, []any{holder}})
	})
}

// ForgetObject removes the row of a file that was deleted and that no record has.
func (s Store) ForgetObject(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{
			`DELETE FROM objects WHERE file IN (SELECT name FROM ` + s.d.Names + ` n WHERE ` + unreferenced + `)`,
			[]any{JSON(&[]string{name})},
		}, forgetSums(name))
	})
}

// useObjects makes files live that a record is about to name. It fails with
// [feedmill.ErrConflict] if one of them is being deleted. Files of earlier releases get
// their rows.
func (s Store) useObjects(workspace feedmill.ID, names ...string) []Statement {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) == 0 {
		return nil
	}
	list := JSON(&names)
	return []Statement{
		{
			`INSERT INTO objects (file, workspace_id, bytes, state, holder, since) SELECT name, CAST(?2 AS text), -1, 'live', '', ` + s.d.Now + ` FROM ` + s.d.Names + ` n WHERE true
				ON CONFLICT (file) DO UPDATE SET state = 'live', holder = '', workspace_id = excluded.workspace_id, since = excluded.since WHERE objects.state IN ('writing', 'unreferenced')`,
			[]any{list, workspace},
		},
		// The key of a file that is being deleted, or was, is a duplicate.
		{
			`INSERT INTO objects (file, workspace_id, bytes, state, holder, since) SELECT file, '', 0, 'live', '', since FROM objects
				WHERE file IN (SELECT name FROM ` + s.d.Names + ` n) AND state IN ('deleting', 'deleted')`,
			[]any{list},
		},
	}
}

// AbandonedObjects lists files whose writers have not renewed their lease for so long, and
// those of a holder that is gone.
func (s Store) AbandonedObjects(ctx context.Context, lease time.Duration, gone string, limit int) (names []string, err error) {
	err = s.db.Each(ctx, scanNames(&names), `SELECT file FROM objects WHERE state = 'writing' AND (holder = ?1 OR `+s.d.Plus("since", lease)+` <= `+s.d.Now+`)
		ORDER BY since LIMIT ?2`, gone, limit)
	return names, err
}

// AbandonObjects makes files unreferenced whose writers are gone, if they are still being written.
func (s Store) AbandonObjects(ctx context.Context, files []feedmill.UnreferencedFile) error {
	return s.mark(ctx, files, `objects.state = 'writing'`)
}

// MarkUnreferenced makes files unreferenced that no version and no refresh has, from now on by
// the clock of the database. A file that is unreferenced already keeps its time.
func (s Store) MarkUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error {
	return s.mark(ctx, files, `objects.state = 'live'`)
}

func (s Store) mark(ctx context.Context, files []feedmill.UnreferencedFile, where string) error {
	if len(files) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx Tx) error {
		all := make([]Statement, len(files))
		for i, f := range files {
			all[i] = Statement{
				`INSERT INTO objects (file, workspace_id, bytes, state, holder, since)
				SELECT name, COALESCE((SELECT workspace_id FROM feeds WHERE id = ?2 LIMIT 1), ''), CAST(?3 AS bigint), 'unreferenced', '', ` + s.d.Now + ` FROM ` + s.d.Names + ` n WHERE ` + unreferenced + `
				ON CONFLICT (file) DO UPDATE SET state = excluded.state, holder = '', since = excluded.since, bytes = excluded.bytes,
					workspace_id = CASE WHEN excluded.workspace_id <> '' THEN excluded.workspace_id ELSE objects.workspace_id END WHERE ` + where,
				[]any{JSON(&[]string{f.Name}), f.Feed(), f.Bytes},
			}
		}
		return tx.Send(ctx, all...)
	})
}

// UnknownObjects are those of the names whose row is missing or wrong: it says that the file
// was deleted, or is live although no record has it.
func (s Store) UnknownObjects(ctx context.Context, names []string) (unknown []string, err error) {
	err = s.db.Each(ctx, scanNames(&unknown), `SELECT name FROM `+s.d.Names+` n WHERE NOT EXISTS
		(SELECT 1 FROM objects o WHERE o.file = n.name AND o.state <> 'deleted' AND (o.state <> 'live' OR `+referenced+`))`, JSON(&names))
	return unknown, err
}

// FoundObjects records files of [Store.UnknownObjects]: live if a record has them, and else
// unreferenced. A file that was recorded as deleted is deleted again.
func (s Store) FoundObjects(ctx context.Context, files []feedmill.UnreferencedFile) error {
	if len(files) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx Tx) error {
		all := make([]Statement, len(files))
		for i, f := range files {
			all[i] = Statement{
				`INSERT INTO objects (file, workspace_id, bytes, state, holder, since)
				SELECT name, COALESCE((SELECT workspace_id FROM feeds WHERE id = ?2 LIMIT 1), ''), CAST(?3 AS bigint), CASE WHEN ` + referenced + ` THEN 'live' ELSE 'unreferenced' END, '', ` + s.d.Now + `
				FROM ` + s.d.Names + ` n WHERE true ON CONFLICT (file) DO UPDATE SET state = CASE objects.state WHEN 'deleted' THEN 'deleting' ELSE excluded.state END, since = excluded.since, bytes = excluded.bytes
				WHERE objects.state = 'deleted' OR objects.state = 'live' AND excluded.state = 'unreferenced'`,
				[]any{JSON(&[]string{f.Name}), f.Feed(), f.Bytes},
			}
		}
		return tx.Send(ctx, all...)
	})
}

// BeginDeleting chooses files to delete: those that were unreferenced for so long, oldest
// first, and those with which the unreferenced files of a workspace take more than most
// bytes; zero is any number. It also returns files whose deletion did not finish. A file
// that a record has becomes live again instead, and one that a backup has pinned stays.
func (s Store) BeginDeleting(ctx context.Context, wait time.Duration, most int64, limit int) (names []string, err error) {
	expired := s.d.Plus("since", wait) + ` <= ` + s.d.Now
	var found []string
	if err := s.db.Each(ctx, scanNames(&found), `SELECT file FROM objects WHERE state = 'deleting' ORDER BY since LIMIT ?1`, limit); err != nil {
		return nil, err
	}
	find, args := `SELECT file FROM objects WHERE state = 'unreferenced' AND `+expired+` ORDER BY since, file LIMIT ?1`, []any{limit - len(found)}
	if most > 0 {
		find = `SELECT file FROM (SELECT file, since, sum(CASE WHEN bytes > 0 THEN bytes ELSE 0 END) OVER (PARTITION BY workspace_id ORDER BY since DESC, file DESC) AS waiting
			FROM objects WHERE state = 'unreferenced') f WHERE waiting > ?2 OR ` + expired + ` ORDER BY since, file LIMIT ?1`
		args = append(args, most)
	}
	if err := s.db.Each(ctx, scanNames(&found), find, args...); err != nil || len(found) == 0 {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx Tx) error {
		names = nil
		in := ` WHERE state = 'unreferenced' AND file IN (SELECT name FROM ` + s.d.Names + ` n WHERE `
		set := `UPDATE objects SET since = ` + s.d.Now + `, state = `
		if err := tx.Send(ctx, Statement{set + `'live'` + in + referenced + `)`, []any{JSON(&found)}}, Statement{set + `'deleting'` + in + unreferenced + `) AND NOT ` + s.pinned(), []any{JSON(&found)}}); err != nil {
			return err
		}
		return tx.Each(ctx, scanNames(&names), `SELECT o.file FROM objects o JOIN `+s.d.Names+` n ON o.file = n.name WHERE o.state = 'deleting'`, JSON(&found))
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// EndDeleting records that files were deleted, and removes their sums.
func (s Store) EndDeleting(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx Tx) error {
		all := []Statement{{
			`UPDATE objects SET state = 'deleted', since = ` + s.d.Now + ` WHERE state = 'deleting' AND file IN (SELECT name FROM ` + s.d.Names + ` n)`, []any{JSON(&names)},
		}}
		for _, name := range names {
			all = append(all, forgetSums(name))
		}
		return tx.Send(ctx, all...)
	})
}

// ForgetObjects removes up to limit rows of files that were deleted so long ago.
func (s Store) ForgetObjects(ctx context.Context, age time.Duration, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err = tx.Run(ctx, `DELETE FROM objects WHERE file IN (SELECT file FROM objects WHERE state = 'deleted' AND `+s.d.Plus("since", age)+` <= `+s.d.Now+` LIMIT ?1 + 0)`, limit)
		return err
	})
	return n, err
}

// scanNames appends a name for each row.
func scanNames(names *[]string) func(Row) error {
	return func(row Row) error {
		var name string
		err := row.Scan(&name)
		*names = append(*names, name)
		return err
	}
}
