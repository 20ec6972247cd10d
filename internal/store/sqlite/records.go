package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dialect is how this engine writes what the engines write differently. Only
// one transaction writes at a time, so nothing is locked.
var dialect = record.Dialect{
	Kinds: kinds{},
	SubscriptionColumns: `id, workspace_id, name, url, events, method, resource_id, state, disabled_reason,
		timeout_ms, rate_limit, rate_per_ms, concurrency, ordered, secrets, headers, header_names,
		created_at, updated_at, deleted_at, last_success_at, warned_at, listen_until,
		retries, disable_after, failing_since, failures, destination, filter, filter_key, transform, preset, shown,
		paused_reason, consented_at, confirm_by, confirm_due_at, alert_id, batch_events, batch_wait`,
	Names:      `(SELECT value AS name FROM json_each(?1))`,
	Superseded: `superseded = 1`,
	Now:        `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
	Plus:       func(column string, d time.Duration) string { return fmt.Sprintf("%s + %d", column, d.Milliseconds()) },
}

// engine is the file as [record.Store] sees it.
type engine struct{ db *DB }

func (e engine) One(ctx context.Context, query string, args []any, into ...any) error {
	return translate(e.db.row(ctx, query, args...).Scan(into...))
}

func (e engine) Each(ctx context.Context, scan func(record.Row) error, query string, args ...any) error {
	rows, err := e.db.rows(ctx, query, args...)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) { return struct{}{}, scan(row) })
	return err
}

func (e engine) Write(ctx context.Context, do func(record.Tx) error) error {
	return e.db.write(ctx, func(tx *tx) error { return do(recordTx{tx}) })
}

func (e engine) WriteWithEvents(ctx context.Context, do func(record.Tx) ([]feedmill.Event, error)) error {
	var due []feedmill.DueDelivery
	err := e.db.write(ctx, func(tx *tx) error {
		events, err := do(recordTx{tx})
		if err != nil {
			return err
		}
		_, due, err = tx.accept(events)
		return err
	})
	if err == nil {
		e.db.options.Offer(due)
	}
	return err
}

// recordTx is a transaction as [record.Store] sees it. It takes no context, as
// other changes share it.
type recordTx struct{ *tx }

func (t recordTx) One(_ context.Context, query string, args []any, into ...any) error {
	return translate(t.row(query, args...).Scan(into...))
}

func (t recordTx) Each(_ context.Context, scan func(record.Row) error, query string, args ...any) error {
	rows, err := t.tx.rows(query, args...)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) { return struct{}{}, scan(row) })
	return err
}

func (t recordTx) Run(_ context.Context, query string, args ...any) (int64, error) {
	return t.exec(query, args...)
}

func (t recordTx) Send(_ context.Context, statements ...record.Statement) error {
	for _, s := range statements {
		if _, err := t.exec(s.SQL, s.Args...); err != nil {
			return err
		}
	}
	return nil
}

func (t recordTx) KeepResponse(_ context.Context, response *feedmill.IdempotentResponse) error {
	return t.keepResponse(response)
}

func (t recordTx) DiscardDisabled(_ context.Context, s feedmill.Subscription) error {
	_, err := t.discardOpen(s.ID, feedmill.DiscardedDisabled, s.UpdatedAt, feedmill.DiscardStep)
	return err
}
