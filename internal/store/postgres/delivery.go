package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// The columns of the two tables of deliveries, to be scanned alike.
const (
	commonColumns = `id, workspace_id, subscription_id, event_id, seq, type, resource_id, state, reason, attempts, budget, due_at, created_at`
	openColumns   = commonColumns + `, NULL::timestamptz AS ended_at`
	endedColumns  = commonColumns + `, ended_at`
)

var (
	openStates  = []feedmill.DeliveryState{feedmill.DeliveryPending, feedmill.DeliveryRetrying}
	endedStates = []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}
)

func scanDelivery(row pgx.Row) (d feedmill.Delivery, err error) {
	var ended *time.Time
	err = row.Scan(&d.ID, &d.Workspace, &d.Subscription, &d.Event, &d.Seq, &d.Type, &d.ResourceID, &d.State, &d.Reason,
		&d.Attempts, &d.Budget, &d.DueAt, &d.CreatedAt, &ended)
	d.DueAt, d.CreatedAt, d.EndedAt = d.DueAt.UTC(), d.CreatedAt.UTC(), orZero(ended)
	return d, translate(err)
}

// newDelivery is a delivery of an event that is due at once.
func newDelivery(e feedmill.Event, subscription feedmill.ID, budget int) feedmill.Delivery {
	id := feedmill.NewID(feedmill.PrefixDelivery)
	return feedmill.Delivery{
		ID: id, Workspace: e.Workspace, Subscription: subscription, Event: e.ID, Type: e.Type, ResourceID: e.ResourceID,
		State: feedmill.DeliveryPending, Budget: budget, CreatedAt: id.Time(),
		// Ids never go back, the clock may: what is due now is due by the clock.
		DueAt: time.Now().UTC().Truncate(time.Millisecond),
	}
}

// deliveryArrays are the values of deliveries, column by column. Their last is
// the slot of an open delivery or the end of another.
func deliveryArrays(deliveries []feedmill.Delivery) []any {
	var (
		ids, workspaces, subscriptions, events, types, resources, states, reasons []string
		attempts, budgets                                                         []int32
		due, created                                                              []time.Time
	)
	for _, d := range deliveries {
		ids, workspaces = append(ids, string(d.ID)), append(workspaces, string(d.Workspace))
		subscriptions, events = append(subscriptions, string(d.Subscription)), append(events, string(d.Event))
		types, resources = append(types, d.Type), append(resources, d.ResourceID)
		states, reasons = append(states, string(d.State)), append(reasons, d.Reason)
		attempts, budgets = append(attempts, int32(d.Attempts)), append(budgets, int32(d.Budget))
		due, created = append(due, d.DueAt), append(created, d.CreatedAt)
	}
	return []any{ids, workspaces, subscriptions, events, types, resources, states, reasons, attempts, budgets, due, created}
}

const (
	insertedColumns = `id, workspace_id, subscription_id, event_id, type, resource_id, state, reason, attempts, budget, due_at, created_at`
	insertedArrays  = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
		$9::integer[], $10::integer[], $11::timestamptz[], $12::timestamptz[], `
)

// queueOpen writes new deliveries that are open. The database numbers them in
// their order; number, where not nil, is told how.
func queueOpen(b *pgx.Batch, deliveries []feedmill.Delivery, number func([]int64)) {
	if len(deliveries) == 0 {
		return
	}
	slots := make([]int16, len(deliveries))
	for i, d := range deliveries {
		slots[i] = int16(feedmill.Slot(d.Subscription))
	}
	var seqs []int64
	each(b.Queue(`INSERT INTO open_deliveries (`+insertedColumns+`, slot)
		SELECT * FROM `+insertedArrays+`$13::smallint[]) RETURNING seq`, append(deliveryArrays(deliveries), slots)...),
		func(row pgx.Row) error {
			var seq int64
			if err := row.Scan(&seq); err != nil {
				return err
			}
			seqs = append(seqs, seq)
			if number != nil && len(seqs) == len(deliveries) {
				number(seqs)
			}
			return nil
		})
}

// queueEnded writes new deliveries that have ended as they began.
func queueEnded(b *pgx.Batch, deliveries []feedmill.Delivery) {
	if len(deliveries) == 0 {
		return
	}
	ends := make([]time.Time, len(deliveries))
	for i, d := range deliveries {
		ends[i] = d.EndedAt
	}
	b.Queue(`INSERT INTO ended_deliveries (`+insertedColumns+`, ended_at)
		SELECT * FROM `+insertedArrays+`$13::timestamptz[])`, append(deliveryArrays(deliveries), ends)...)
}

// Delivery finds a delivery of the workspace.
func (db *DB) Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error) {
	return scanDelivery(db.pool.QueryRow(ctx, `SELECT `+openColumns+` FROM open_deliveries WHERE id = $1 AND workspace_id = $2
		UNION ALL SELECT `+endedColumns+` FROM ended_deliveries WHERE id = $1 AND workspace_id = $2`, id, workspace))
}

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
