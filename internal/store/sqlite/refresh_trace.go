package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// RefreshTrace is what was asked for in a refresh, none where that is not known.
func (db *DB) RefreshTrace(ctx context.Context, workspace, feed, id feedmill.ID) (requests []feedmill.TracedRequest, err error) {
	if _, err := db.Refresh(ctx, workspace, feed, id); err != nil {
		return nil, err
	}
	rows, err := db.rows(ctx, `SELECT trace FROM refresh_traces WHERE workspace_id = ? AND feed_id = ? AND refresh_id = ?`, workspace, feed, id)
	found, err := all(rows, err, func(row record.Row) (requests []feedmill.TracedRequest, err error) {
		err = row.Scan(record.PackedJSON(&requests))
		return requests, err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}
