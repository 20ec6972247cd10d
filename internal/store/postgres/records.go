package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dialect is how this engine writes what the engines write differently.
var dialect = record.Dialect{
	Kinds: kinds{},
	SubscriptionColumns: `id, workspace_id, name, url, events, method, resource_id, state, disabled_reason,
		timeout, rate_limit, rate_per, concurrency, ordered, secrets, headers, header_names,
		created_at, updated_at, deleted_at, last_success_at, warned_at, listen_until,
		retries, disable_after, failing_since, failures, destination, filter, filter_key, transform, preset, shown,
		paused_reason, consented_at, confirm_by, confirm_due_at, alert_id, batch_events, batch_wait`,
	ForUpdate:     ` FOR UPDATE`,
	ForShare:      ` FOR SHARE`,
	SkipLocked:    ` FOR UPDATE SKIP LOCKED`,
	LockWorkspace: `SELECT FROM workspaces WHERE id = ?1 FOR NO KEY UPDATE`,
	Names:         `(SELECT json_array_elements_text(?1::json) AS name)`,
	Superseded:    `superseded`,
	Now:           `now()`,
	Plus: func(column string, d time.Duration) string {
		return fmt.Sprintf("%s + interval '%d milliseconds'", column, d.Milliseconds())
	},
}

// numbered is a query as PostgreSQL writes the places of its values.
func numbered(query string) string { return strings.ReplaceAll(query, "?", "$") }

// reader reads for [record.Store].
type reader struct {
	from interface {
		querier
		QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	}
}

func (r reader) One(ctx context.Context, query string, args []any, into ...any) error {
	return translate(r.from.QueryRow(ctx, numbered(query), args...).Scan(into...))
}

func (r reader) Each(ctx context.Context, scan func(record.Row) error, query string, args ...any) error {
	rows, err := r.from.Query(ctx, numbered(query), args...)
	_, err = all(rows, translate(err), func(row record.Row) (struct{}, error) { return struct{}{}, scan(row) })
	return err
}

// engine is the database as [record.Store] sees it.
type engine struct {
	reader
	db *DB
}

func (e engine) Write(ctx context.Context, do func(record.Tx) error) error {
	return e.db.write(ctx, func(tx tx) error { return do(recordTx{reader{tx}, tx}) })
}

func (e engine) WriteWithEvents(ctx context.Context, do func(record.Tx) ([]feedmill.Event, error)) error {
	return e.db.writeWithEvents(ctx, func(tx tx) ([]feedmill.Event, error) { return do(recordTx{reader{tx}, tx}) })
}

// recordTx is a transaction as [record.Store] sees it.
type recordTx struct {
	reader
	tx tx
}

func (t recordTx) Run(ctx context.Context, query string, args ...any) (int64, error) {
	return t.tx.exec(ctx, numbered(query), args...)
}

func (t recordTx) Send(ctx context.Context, statements ...record.Statement) error {
	return t.tx.send(ctx, func(b *pgx.Batch) error {
		for _, s := range statements {
			b.Queue(numbered(s.SQL), s.Args...)
		}
		return nil
	})
}

func (t recordTx) KeepResponse(ctx context.Context, response *feedmill.IdempotentResponse) error {
	return t.tx.keepResponse(ctx, response)
}

func (t recordTx) DiscardDisabled(ctx context.Context, s feedmill.Subscription) error {
	_, err := t.tx.discardOpen(ctx, s.ID, feedmill.DiscardedDisabled, s.UpdatedAt, feedmill.DiscardStep)
	return err
}
