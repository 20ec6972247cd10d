package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

var (
	openStates  = []feedmill.DeliveryState{feedmill.DeliveryPending, feedmill.DeliveryRetrying}
	endedStates = []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}
)

// Deliveries lists deliveries, newest first.
func (db *DB) Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error) {
	var w where
	w.and("workspace_id = ?", workspace)
	if q.Subscription != "" {
		w.and("subscription_id = ?", q.Subscription)
	}
	if q.Type != "" {
		w.and("type = ?", q.Type)
	}
	w.page(q.Page, feedmill.PrefixDelivery, q.Since)
	return listDeliveries(ctx, db.pool, &w, q.States, q.Subscription != "", "DESC", q.Limit)
}

// listDeliveries lists the deliveries of both tables that meet a condition, in
// the order of their ids. The deliveries of one subscription are read state by
// state, each in the order of the index, so that no more is
// read than is wanted.
func listDeliveries(ctx context.Context, q querier, w *where, states []feedmill.DeliveryState, oneSubscription bool, order string, limit int) ([]feedmill.Delivery, error) {
	last := ` ORDER BY id ` + order + ` LIMIT ` + w.value(limit)
	var parts []string
	part := func(columns, table string, states []feedmill.DeliveryState) {
		names := make([]string, len(states))
		for i, s := range states {
			names[i] = `'` + string(s) + `'`
		}
		parts = append(parts, `(SELECT `+columns+` FROM `+table+w.clause()+` AND state IN (`+strings.Join(names, ", ")+`)`+last+`)`)
	}
	for _, of := range []struct {
		columns, table string
		wanted         []feedmill.DeliveryState
	}{
		{openColumns, "open_deliveries", among(openStates, states)},
		{endedColumns, "ended_deliveries", among(endedStates, states)},
	} {
		if oneSubscription {
			for i := range of.wanted {
				part(of.columns, of.table, of.wanted[i:i+1])
			}
		} else if len(of.wanted) > 0 {
			part(of.columns, of.table, of.wanted)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := q.Query(ctx, `SELECT * FROM (`+strings.Join(parts, ` UNION ALL `)+`) AS d`+last, w.values...)
	return all(rows, translate(err), scanDelivery)
}

// among are those of the states that are wanted; all where none is named.
func among(states, wanted []feedmill.DeliveryState) (found []feedmill.DeliveryState) {
	for _, s := range states {
		if len(wanted) == 0 || slices.Contains(wanted, s) {
			found = append(found, s)
		}
	}
	return found
}

// querier is the database or a transaction.
type querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}
