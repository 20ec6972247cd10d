package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dueSources finds sources that are due, behind one of them and but for those of
// some places. A place is where sources take turns: a workspace and a host.
const dueSources = `SELECT ` + record.DueSourceColumns + ` FROM sources INDEXED BY sources_due
	WHERE due_at IS NOT NULL AND due_at <= ?1 AND (due_at, id) > (?2, ?3)
	AND workspace_id || ' ' || host NOT IN (SELECT value FROM json_each(?4))
	AND (leased_until IS NULL OR leased_until <= ?1) ORDER BY due_at, id LIMIT ?5`

// DueSources are sources that are due and that no run has. They are read in their
// order, some at a time: those of a place that has its share are passed over from
// then on.
func (db *DB) DueSources(ctx context.Context, now time.Time, each, limit int) (due []feedmill.DueSource, err error) {
	last := feedmill.DueSource{}
	taken, full := make(map[string]int), []string{}
	for len(due) < limit {
		rows, err := db.rows(ctx, dueSources, toMillis(now), last.DueAt.UnixMilli(), last.ID, record.JSON(&full), limit)
		some, err := all(rows, err, scanDueSource)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			place := string(s.Workspace) + " " + s.Host
			if taken[place] == each || len(due) == limit {
				continue
			}
			due = append(due, s)
			if taken[place]++; taken[place] == each {
				full = append(full, place)
			}
		}
		if len(some) < limit {
			break
		}
		last = some[limit-1]
	}
	return due, nil
}

var scanDueSource = scanner(record.DueSource)

// RenewSource extends the lease of a run that still has it, and notes how far its
// refreshes have come.
func (db *DB) RenewSource(ctx context.Context, workspace, id feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE sources SET leased_until = ? WHERE workspace_id = ? AND id = ? AND run = ? AND leased_until IS NOT NULL`,
			toMillis(until), workspace, id, run)
		if err != nil {
			return err
		}
		if n == 0 {
			if _, err := scanSource(tx.row(oneSource, workspace, id)); err != nil {
				return err
			}
			return feedmill.ErrConflict
		}
		for _, r := range progress {
			if _, err := tx.exec(`UPDATE refreshes SET requests = ?, pages = ?, bytes_in = ?, rows_in = ?
				WHERE workspace_id = ? AND feed_id = ? AND id = ? AND state = 'running'`,
				r.Requests, r.Pages, r.BytesIn, r.RowsIn, workspace, r.Feed, r.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
