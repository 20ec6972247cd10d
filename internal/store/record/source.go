package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const oneSource = `SELECT ` + SourceColumns + ` FROM sources WHERE workspace_id = ?1 AND id = ?2`

// Source finds a source.
func (s Store) Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return one(ctx, s.db, s, Source, oneSource, workspace, id)
}

// lockSource finds a source and keeps everybody else from changing it.
func (s Store) lockSource(ctx context.Context, tx Tx, workspace, id feedmill.ID) (feedmill.Source, error) {
	return one(ctx, tx, s, Source, oneSource+s.d.ForUpdate, workspace, id)
}

// deleteUnusedSource deletes a source that no feed is made of any more.
const deleteUnusedSource = `DELETE FROM sources WHERE workspace_id = ?1 AND id = ?2
	AND NOT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = ?1 AND source_id = ?2)`

// RenewSource extends the lease of a run that still has it, and notes how far its
// refreshes have come.
func (s Store) RenewSource(ctx context.Context, workspace, id feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE sources SET leased_until = ?1 WHERE workspace_id = ?2 AND id = ?3 AND run = ?4 AND leased_until IS NOT NULL`,
			s.time(until), workspace, id, run)
		if err != nil {
			return err
		}
		if n == 0 {
			if _, err := one(ctx, tx, s, Source, oneSource, workspace, id); err != nil {
				return err
			}
			return feedmill.ErrConflict
		}
		var note []Statement
		for _, r := range progress {
			n, err := tx.Run(ctx, `UPDATE refreshes SET requests = ?1, pages = ?2, bytes_in = ?3, rows_in = ?4, parts = ?8, parts_done = ?9, stage = ?10
				WHERE workspace_id = ?5 AND feed_id = ?6 AND id = ?7 AND state = 'running'`,
				r.Requests, r.Pages, r.BytesIn, r.RowsIn, workspace, r.Feed, r.ID, r.Parts, r.PartsDone, r.Stage)
			if err != nil {
				return err
			}
			if n > 0 && r.Trace != nil {
				note = append(note, putTrace(workspace, feedmill.Trace{Refresh: r.ID, Feed: r.Feed, Requests: r.Trace}))
			}
		}
		return tx.Send(ctx, note...)
	})
}

// ReleaseSources ends all leases of a holder, and counts them.
func (s Store) ReleaseSources(ctx context.Context, holder string) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err = tx.Run(ctx, `UPDATE sources SET leased_until = NULL WHERE leased_by = ?1 AND leased_until IS NOT NULL`, holder)
		return err
	})
	return n, err
}

// putTrace writes what was asked for in a refresh, in place of what was written of it
// before.
func putTrace(workspace feedmill.ID, t feedmill.Trace) Statement {
	return Statement{
		`INSERT INTO refresh_traces (workspace_id, feed_id, refresh_id, trace) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (workspace_id, feed_id, refresh_id) DO UPDATE SET trace = excluded.trace`,
		[]any{workspace, t.Feed, t.Refresh, PackedJSON(&t.Requests)},
	}
}
