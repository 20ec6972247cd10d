package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// undeliveredStates are those in which a delivery ended without success.
var undeliveredStates = []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}

// Undelivered lists deliveries that ended without success, newest first, with their errors.
func (db *DB) Undelivered(ctx context.Context, workspace feedmill.ID, q feedmill.UndeliveredQuery) ([]feedmill.Undelivered, error) {
	wanted := among(undeliveredStates, q.States)
	if len(wanted) == 0 {
		return nil, nil
	}
	var w where
	w.and("workspace_id = ?", workspace)
	w.page(q.Page, feedmill.PrefixDelivery, q.Since)
	first := ` LIMIT ` + w.value(q.Limit)
	const columns = `SELECT id, subscription_id, state, reason, ended_at, CASE WHEN reason LIKE 'all % attempts failed' THEN final_attempt END FROM ended_deliveries`
	var parts []string
	switch {
	case q.Subscription != "":
		each := ofSubscription(w.value(q.Subscription), "DESC")
		for _, state := range wanted {
			condition, order := each(state)
			parts = append(parts, `(`+columns+w.clause()+` AND `+condition+` ORDER BY `+order+first+`)`)
		}
	default:
		names := make([]string, len(wanted))
		for i, state := range wanted {
			names[i] = `'` + string(state) + `'`
		}
		// The first condition is that of the partial index.
		condition := ` AND state IN ('exhausted', 'discarded')`
		if !slices.Equal(wanted, undeliveredStates) {
			condition += ` AND state IN (` + strings.Join(names, ", ") + `)`
		}
		parts = append(parts, `(`+columns+w.clause()+condition+` ORDER BY id DESC`+first+`)`)
	}
	rows, err := db.pool.Query(ctx, `SELECT * FROM (`+strings.Join(parts, ` UNION ALL `)+`) AS d ORDER BY id DESC`+first, w.values...)
	return all(rows, translate(err), func(row record.Row) (u feedmill.Undelivered, err error) {
		var reason, last string
		var packed []byte
		err = row.Scan(&u.ID, &u.Subscription, &u.State, &reason, &u.EndedAt, &packed)
		if packed != nil {
			last = unpackAttempt(packed).Error
		}
		u.Error, u.EndedAt = feedmill.UndeliveredError(reason, last), u.EndedAt.UTC()
		return u, err
	})
}
