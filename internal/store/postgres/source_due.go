package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dueSources finds sources that are due in the order of their turns: all of those
// in one workspace that ask the same host stand in one line.
const dueSources = `SELECT ` + record.DueSourceColumns + ` FROM (
	SELECT workspace_id, id, host, due_at, row_number() OVER (PARTITION BY workspace_id, host ORDER BY due_at, id) AS turn
	FROM sources WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)) s
	WHERE turn <= $2 ORDER BY due_at, id LIMIT $3`

// DueSources are sources that are due and that no run has.
func (db *DB) DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error) {
	rows, err := db.steady.Query(ctx, dueSources, now, each, limit)
	return all(rows, translate(err), scanner(record.DueSource))
}
