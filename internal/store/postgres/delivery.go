package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// The columns of the two tables of deliveries, to be scanned alike.
const (
	commonColumns = `id, workspace_id, subscription_id, event_id, seq, type, resource_id, state, reason, attempts, budget`
	openColumns   = commonColumns + `, due_at, NULL::timestamptz AS ended_at`
	endedColumns  = commonColumns + `, NULL::timestamptz AS due_at, ended_at`

	// endingColumns are those that a delivery keeps when it ends.
	endingColumns = `id, workspace_id, subscription_id, event_id, seq, type, resource_id, budget, apart`
)

func scanDelivery(row record.Row) (d feedmill.Delivery, err error) { return scanDeliveryAnd(row) }

// scanDeliveryAnd scans a delivery and what stands behind its columns.
func scanDeliveryAnd(row record.Row, more ...any) (d feedmill.Delivery, err error) {
	var due, ended *time.Time
	err = row.Scan(append([]any{
		&d.ID, &d.Workspace, &d.Subscription, &d.Event, &d.Seq, &d.Type, &d.ResourceID, &d.State, &d.Reason,
		&d.Attempts, &d.MaxAttempts, &due, &ended,
	}, more...)...)
	d.DueAt, d.CreatedAt, d.EndedAt = orZero(due), d.ID.Time(), orZero(ended)
	return d, translate(err)
}

// newDelivery is a delivery of an event that is due at now.
func newDelivery(e feedmill.Event, subscription feedmill.ID, maxAttempts int, now time.Time) feedmill.Delivery {
	id := feedmill.NewID(feedmill.PrefixDelivery)
	return feedmill.Delivery{
		ID: id, Workspace: e.Workspace, Subscription: subscription, Event: e.ID, Type: e.Type, ResourceID: e.ResourceID,
		State: feedmill.DeliveryPending, MaxAttempts: maxAttempts, CreatedAt: id.Time(), DueAt: now,
	}
}

// apart reports whether a delivery that was made with its event is not found
// among the ids of its event's day.
func apart(d feedmill.Delivery) bool { return !dayOf(d.ID.Time()).Equal(dayOf(d.Event.Time())) }

// newRows are new deliveries, column by column.
type newRows struct {
	ids, workspaces, subscriptions, events, types, resources []string
	seqs                                                     []int64
	maxAttempts                                              []int32
	apart                                                    []bool
}

func rowsOf(deliveries []feedmill.Delivery, replayed bool) newRows {
	n := len(deliveries)
	texts := make([]string, 6*n)
	column := func(i int) []string { return texts[i*n : (i+1)*n : (i+1)*n] }
	r := newRows{
		column(0), column(1), column(2), column(3), column(4), column(5),
		make([]int64, n), make([]int32, n), make([]bool, n),
	}
	for i := range deliveries {
		d := &deliveries[i]
		r.ids[i], r.workspaces[i], r.subscriptions[i] = string(d.ID), string(d.Workspace), string(d.Subscription)
		r.events[i], r.types[i], r.resources[i] = string(d.Event), d.Type, d.ResourceID
		r.seqs[i], r.maxAttempts[i], r.apart[i] = d.Seq, int32(d.MaxAttempts), replayed || apart(*d)
	}
	return r
}

func (r newRows) values(more ...any) []any {
	return append([]any{r.ids, r.workspaces, r.subscriptions, r.events, r.types, r.resources, r.seqs, r.maxAttempts, r.apart}, more...)
}

const newColumns = `id, workspace_id, subscription_id, event_id, type, resource_id, seq, budget, apart`

var (
	insertOpenRows = `INSERT INTO open_deliveries (` + newColumns + `, slot, ordered, state, reason, attempts, due_at)
		SELECT d.*, 'pending', '', 0, $12::timestamptz FROM ` + newArrays("slot smallint", "ordered boolean") + ` d`
	insertDiscardedRows = `INSERT INTO ended_deliveries (` + newColumns + `, ended_at, state, reason, attempts)
		SELECT d.*, 'discarded', $11::text, 0 FROM ` + newArrays("ended_at timestamptz") + ` d`
)

// newArrays are newRows and more columns.
func newArrays(more ...string) string {
	return arrays(append([]string{
		"id text", "workspace_id text", "subscription_id text", "event_id text", "type text", "resource_id text",
		"seq bigint", "budget integer", "apart boolean",
	}, more...)...)
}

// insertOpen writes new deliveries that are pending, all due at the same time.
// ordered are those whose subscription is, and replayed says that they are of
// events that were accepted before.
func insertOpen(b *pgx.Batch, deliveries []feedmill.Delivery, ordered []bool, replayed bool) {
	for chunk := range slices.Chunk(deliveries, blockSize) {
		slots := make([]int16, len(chunk))
		for i := range chunk {
			slots[i] = int16(feedmill.Slot(chunk[i].Subscription))
		}
		b.Queue(insertOpenRows, rowsOf(chunk, replayed).values(slots, ordered[:len(chunk)], chunk[0].DueAt)...)
		ordered = ordered[len(chunk):]
	}
}

// insertDiscarded writes new deliveries that have ended as they began, with a statement for
// each run of the same reason. later says that they are of events that were accepted before.
func insertDiscarded(b *pgx.Batch, deliveries []feedmill.Delivery, later bool) {
	for len(deliveries) > 0 {
		reason := deliveries[0].Reason
		n := slices.IndexFunc(deliveries, func(d feedmill.Delivery) bool { return d.Reason != reason })
		if n < 0 {
			n = len(deliveries)
		}
		ends := make([]time.Time, n)
		for i, d := range deliveries[:n] {
			ends[i] = d.EndedAt
		}
		b.Queue(insertDiscardedRows, rowsOf(deliveries[:n], later).values(ends, reason)...)
		deliveries = deliveries[n:]
	}
}

// Delivery finds a delivery of the workspace.
func (db *DB) Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error) {
	return scanDelivery(db.pool.QueryRow(ctx, `SELECT `+openColumns+` FROM open_deliveries WHERE id = $1 AND workspace_id = $2
		UNION ALL SELECT `+endedColumns+` FROM ended_deliveries WHERE id = $1 AND workspace_id = $2`, id, workspace))
}
