package record

import (
	"context"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// Reader reads rows. Its queries have ?1, ?2 and so on for their values, and
// its errors are the domain's.
type Reader interface {
	// One scans the one row that a query finds; none is feedmill.ErrNotFound.
	One(ctx context.Context, query string, args []any, into ...any) error
	// Each calls scan for every row that a query finds.
	Each(ctx context.Context, scan func(Row) error, query string, args ...any) error
}

// Engine is the database under a [Store].
type Engine interface {
	Reader
	// Write runs do in a transaction and returns once it is durable.
	Write(ctx context.Context, do func(Tx) error) error
	// WriteWithEvents is Write for a do that returns events, which are accepted
	// in the same transaction. It offers the deliveries of theirs that are due.
	WriteWithEvents(ctx context.Context, do func(Tx) ([]feedmill.Event, error)) error
	// RemoveDeliveries removes deliveries of a workspace; see [Store.RemoveDeliveries].
	RemoveDeliveries(ctx context.Context, workspace feedmill.ID, after string, limit int) (next string, n int64, err error)
}

// Tx is a transaction.
type Tx interface {
	Reader
	// Run runs a statement and returns how many rows it changed.
	Run(ctx context.Context, query string, args ...any) (int64, error)
	// Send runs statements, in one turn where the engine can.
	Send(ctx context.Context, all ...Statement) error
	// KeepResponse writes a response, where there is one, beside the effect that
	// it belongs to. A key that has a response already is
	// feedmill.ErrIdempotencyKeyUsed.
	KeepResponse(context.Context, *feedmill.IdempotentResponse) error
	// AddTopics makes events find new subscriptions.
	AddTopics(ctx context.Context, subs []feedmill.Subscription) error
	// SetTopics makes events find a subscription, in place of what found the
	// old one.
	SetTopics(ctx context.Context, old *feedmill.Subscription, s feedmill.Subscription) error
	// ForgetSubscription makes no event find a subscription that is deleted, and
	// discards the first of its open deliveries.
	ForgetSubscription(ctx context.Context, id feedmill.ID, at time.Time) error
	// DiscardDisabled discards the first open deliveries of a subscription that
	// has been disabled.
	DiscardDisabled(ctx context.Context, s feedmill.Subscription) error
}

// Dialect is what the engines write differently.
type Dialect struct {
	Kinds
	// SubscriptionColumns are the columns of Subscription.
	SubscriptionColumns string
	// ForUpdate ends a query for rows that nobody else may change until the end
	// of the transaction, and SkipLocked one that passes over such rows. Both are
	// empty where there is one transaction at a time.
	ForUpdate, SkipLocked string
	// ForShare ends a query for a row that others may read and not change until the end of the
	// transaction. It is empty where there is one transaction at a time.
	ForShare string
	// LockWorkspace makes those who count what a workspace has go one by one. It
	// stands in the way of nobody who only refers to the workspace, as every
	// event does. It is empty where there is one transaction at a time.
	LockWorkspace string
	// Names is a table with a column name of the texts in ?1, which are JSON.
	Names string
	// Superseded holds for refreshes that are not the last of a feed, as the index of
	// them has it.
	Superseded string
	// Now is the clock of the database.
	Now string
	// Plus is a column and a duration after it.
	Plus func(column string, d time.Duration) string
}

// Store is the part of a store that is the same in both engines: all but events,
// deliveries and what they do by the thousand.
type Store struct {
	db Engine
	d  Dialect
}

// NewStore makes the store of an engine.
func NewStore(e Engine, d Dialect) Store { return Store{e, d} }

// time is a time as a value of a statement.
func (s Store) time(t time.Time) any { return s.d.Time(&t) }

// lock keeps everybody else from changing rows, which are given as what stands
// behind a FROM. The lock comes before the read: what one statement finds, after
// it has waited for a lock, can be of two moments.
func (s Store) lock(ctx context.Context, tx Tx, rows string, args ...any) error {
	if s.d.ForUpdate == "" {
		return nil
	}
	_, err := tx.Run(ctx, `SELECT 1 FROM `+rows+s.d.ForUpdate, args...)
	return err
}

// Statement is one to run.
type Statement struct {
	SQL  string
	Args []any
}

// insert adds a row.
func insert(table, columns string, values ...any) Statement {
	return Statement{`INSERT INTO ` + table + ` (` + columns + `) VALUES ` + places(len(values)), values}
}

// update changes columns of a record of a workspace.
func update(table, columns string, values []any, workspace, id feedmill.ID) Statement {
	n := len(values)
	return Statement{
		`UPDATE ` + table + ` SET (` + columns + `) = ` + places(n) + ` WHERE workspace_id = ?` + strconv.Itoa(n+1) + ` AND id = ?` + strconv.Itoa(n+2),
		append(values, workspace, id),
	}
}

// places are where values stand, such as (?1, ?2).
func places(n int) string {
	b := []byte("(")
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(b, '?'), int64(i+1), 10)
	}
	return string(append(b, ')'))
}

// one reads the one record that a query finds.
func one[T any](ctx context.Context, r Reader, s Store, fields func(*T, Kinds) []any, query string, args ...any) (v T, err error) {
	err = r.One(ctx, query, args, fields(&v, s.d)...)
	return v, err
}

// list reads all records that a query finds.
func list[T any](ctx context.Context, r Reader, s Store, fields func(*T, Kinds) []any, query string, args ...any) (all []T, err error) {
	err = r.Each(ctx, func(row Row) error {
		var v T
		err := row.Scan(fields(&v, s.d)...)
		all = append(all, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// before is the id that a page ends before; past all ids where it is the first
// page.
func before(p feedmill.Page, prefix string) feedmill.ID {
	if p.Before == "" {
		return feedmill.ID(prefix + "_~")
	}
	return p.Before
}

// orNone turns no change into an error.
func orNone(n int64, err, none error) error {
	if err == nil && n == 0 {
		return none
	}
	return err
}
