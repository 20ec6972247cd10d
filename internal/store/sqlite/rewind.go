package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// rewindStep is how many deliveries Rewind looks at in one go.
const rewindStep = 500

// Rewind puts right what retries of a subscription wait for after the clock was
// set back to now: one whose last attempt lies in the future waits as long from
// now on as it was to wait from that attempt on.
func (db *DB) Rewind(ctx context.Context, subscription feedmill.ID, now time.Time) error {
	type waiting struct {
		seq, due int64
		tried    sql.NullInt64
	}
	at, afterDue, afterSeq := now.UnixMilli(), now.UnixMilli(), int64(1<<62)
	for {
		rows, err := db.rows(ctx, `SELECT d.seq, d.at, (SELECT max(a.at) FROM attempts a WHERE a.delivery_seq = d.seq)
			FROM deliveries d INDEXED BY deliveries_retrying
			WHERE d.subscription_id = ?1 AND d.state = 4 AND (d.at, d.seq) > (?2, ?3) ORDER BY d.at, d.seq LIMIT ?4`,
			subscription, afterDue, afterSeq, rewindStep)
		page, err := all(rows, err, func(row record.Row) (w waiting, err error) {
			err = row.Scan(&w.seq, &w.due, &w.tried)
			return w, err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		last := page[len(page)-1]
		afterDue, afterSeq = last.due, last.seq
		if err := db.write(ctx, func(tx *tx) error {
			for _, w := range page {
				if w.tried.Int64 <= at {
					continue
				}
				if _, err := tx.exec(`UPDATE deliveries SET at = ? WHERE seq = ? AND at = ? AND state = 4`,
					at+max(w.due-w.tried.Int64, 0), w.seq, w.due); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
}
