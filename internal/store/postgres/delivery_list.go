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

// Deliveries lists deliveries, newest first unless they are those behind one.
func (db *DB) Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error) {
	var w where
	w.and("workspace_id = ?", workspace)
	if q.Type != "" {
		w.and("type = ?", q.Type)
	}
	w.page(q.Page, feedmill.PrefixDelivery, q.Since)
	order := "DESC"
	if q.After != "" {
		w.and("id > ?", q.After)
		order = "ASC"
	}
	if q.Subscription != "" {
		return listDeliveries(ctx, db.pool, &w, q.States, ofSubscription(w.value(q.Subscription), order), order, q.Limit)
	}
	return listDeliveries(ctx, db.pool, &w, q.States, nil, "DESC", q.Limit)
}

// ofState is the condition and the order of the deliveries in one state.
type ofState func(state feedmill.DeliveryState) (condition, order string)

// ofSubscription is the deliveries of a subscription by age. They are in order in an index
// by subscription and state, and that is the only index with this order. In the order of
// ids alone, the server would rather read all newer deliveries of all subscriptions than
// those of a subscription that it takes to have most of them.
func ofSubscription(subscription, by string) ofState {
	return func(state feedmill.DeliveryState) (condition, order string) {
		if slices.Contains(openStates, state) {
			return `subscription_id >= ` + subscription + ` AND subscription_id <= ` + subscription + ` AND state = '` + string(state) + `'`, `subscription_id ` + by + `, id ` + by
		}
		return `subscription_id = ` + subscription + ` AND state >= '` + string(state) + `' AND state <= '` + string(state) + `'`, `state ` + by + `, id ` + by
	}
}

// oldest is the oldest deliveries first.
func oldest(state feedmill.DeliveryState) (condition, order string) {
	return `state = '` + string(state) + `'`, `id`
}

// listDeliveries lists the deliveries of both tables that meet a condition, in
// the order of their ids. The deliveries of one subscription are read state by
// state, each in the order of the index, so that no more is
// read than is wanted.
func listDeliveries(ctx context.Context, q querier, w *where, states []feedmill.DeliveryState, each ofState, order string, limit int) ([]feedmill.Delivery, error) {
	first := ` LIMIT ` + w.value(limit)
	var parts []string
	part := func(columns, table, condition, order string) {
		parts = append(parts, `(SELECT `+columns+` FROM `+table+w.clause()+` AND `+condition+` ORDER BY `+order+first+`)`)
	}
	for _, of := range []struct {
		columns, table string
		wanted         []feedmill.DeliveryState
	}{
		{openColumns, "open_deliveries", among(openStates, states)},
		{endedColumns, "ended_deliveries", among(endedStates, states)},
	} {
		if each == nil && len(of.wanted) > 0 {
			names := make([]string, len(of.wanted))
			for i, s := range of.wanted {
				names[i] = `'` + string(s) + `'`
			}
			part(of.columns, of.table, `state IN (`+strings.Join(names, ", ")+`)`, `id `+order)
			continue
		}
		for _, state := range of.wanted {
			condition, order := each(state)
			part(of.columns, of.table, condition, order)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := q.Query(ctx, `SELECT * FROM (`+strings.Join(parts, ` UNION ALL `)+`) AS d ORDER BY id `+order+first, w.values...)
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
