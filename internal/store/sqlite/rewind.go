package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Rewind puts right what retries wait for after the clock was set back to now: one
// whose last attempt lies in the future waits as long from now on as it was to
// wait from that attempt on. It looks at up to limit retries behind after, and
// returns how far it came and whether there may be more. All slots are this
// process's.
func (db *DB) Rewind(ctx context.Context, _ []int, now time.Time, after feedmill.RetryPosition, limit int) (reached feedmill.RetryPosition, more bool, err error) {
	type waiting struct {
		subscription feedmill.ID
		seq, due     int64
		tried        sql.NullInt64
	}
	at := now.UnixMilli()
	rows, err := db.rows(ctx, `SELECT d.subscription_id, d.seq, d.at, (SELECT max(a.at) FROM attempts a WHERE a.delivery_seq = d.seq)
		FROM deliveries d INDEXED BY deliveries_retrying
		WHERE d.state = 4 AND (d.subscription_id, d.at, d.seq) > (?1, ?2, ?3) ORDER BY d.subscription_id, d.at, d.seq LIMIT ?4`,
		after.Subscription, toMillis(after.DueAt), after.Seq, limit)
	page, err := all(rows, err, func(row record.Row) (w waiting, err error) {
		err = row.Scan(&w.subscription, &w.seq, &w.due, &w.tried)
		return w, err
	})
	if err != nil || len(page) == 0 {
		return after, false, err
	}
	var early []waiting
	for _, w := range page {
		if w.due > at && w.tried.Int64 > at {
			early = append(early, w)
		}
	}
	if len(early) > 0 {
		err = db.write(ctx, func(tx *tx) error {
			for _, w := range early {
				if _, err := tx.exec(`UPDATE deliveries SET at = ? WHERE seq = ? AND at = ? AND state = 4`,
					at+max(w.due-w.tried.Int64, 0), w.seq, w.due); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return after, false, err
		}
	}
	last := page[len(page)-1]
	return feedmill.RetryPosition{Subscription: last.subscription, DueAt: time.UnixMilli(last.due), Seq: last.seq}, len(page) == limit, nil
}
