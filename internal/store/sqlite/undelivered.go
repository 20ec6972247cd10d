package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Undelivered lists deliveries that ended without success, newest first, with their errors.
func (db *DB) Undelivered(ctx context.Context, workspace feedmill.ID, q feedmill.UndeliveredQuery) ([]feedmill.Undelivered, error) {
	within, err := db.queryFunc(ctx).seqRange(feedmill.FirstID(feedmill.PrefixDelivery, q.Since), before(q.Page, feedmill.PrefixDelivery))
	if err != nil {
		return nil, err
	}
	index, of := `deliveries_undelivered`, `workspace_id = ?1 AND state >= 5`
	args := []any{workspace, within.from, within.to, q.Limit}
	if q.Subscription != "" {
		index, of = `deliveries_failed`, `subscription_id = ?5 AND state >= 4`
		args = append(args, q.Subscription)
	}
	var parts []string
	for n := stateExhausted; n <= stateDiscarded; n++ {
		if len(q.States) == 0 || slices.Contains(q.States, stateNumbers[n]) {
			// The state is a constant: only so does SQLite see that the index fits.
			parts = append(parts, `SELECT seq FROM deliveries INDEXED BY `+index+` WHERE `+of+` AND state = `+string(rune('0'+n))+` AND seq >= ?2 AND seq < ?3`)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := db.rows(ctx, `SELECT d.id, d.subscription_id, d.state, d.reason, d.at,
			CASE WHEN d.reason LIKE 'all % attempts failed' THEN coalesce((SELECT a.error FROM attempts a WHERE a.delivery_seq = d.seq ORDER BY a.number DESC LIMIT 1), '') ELSE '' END
		FROM (`+strings.Join(parts, ` UNION ALL `)+` ORDER BY seq DESC LIMIT ?4) k CROSS JOIN deliveries d ON d.seq = k.seq AND d.workspace_id = ?1
		ORDER BY k.seq DESC`, args...)
	return all(rows, err, func(row record.Row) (u feedmill.Undelivered, err error) {
		var reason, last string
		var at sql.NullInt64
		err = row.Scan(&u.ID, &u.Subscription, (*storedState)(&u.State), &reason, &at, &last)
		u.Error, u.EndedAt = feedmill.UndeliveredError(reason, last), fromMillis(at)
		return u, err
	})
}
