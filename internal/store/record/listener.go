package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// ConnectListener records a connection as that of a listener, in place of an earlier one. The
// connection is a ticket of [Store.ReleasePermit].
func (s Store) ConnectListener(ctx context.Context, id feedmill.ID, connection string, until time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{
			`INSERT INTO permits (pool, number, ticket, holder, until) VALUES (?1, 0, ?2, '', ?3)
			ON CONFLICT (pool, number) DO UPDATE SET ticket = excluded.ticket, holder = excluded.holder, until = excluded.until`,
			[]any{listenerPool(id), connection, s.time(until)},
		})
	})
}

// ListenerConnection returns the last connection of a listener, empty if there is none. A listener
// that was removed is [feedmill.ErrNotFound].
func (s Store) ListenerConnection(ctx context.Context, id feedmill.ID) (connection string, err error) {
	err = s.db.One(ctx, `SELECT COALESCE(p.ticket, '') FROM subscriptions s LEFT JOIN permits p ON p.pool = ?2 AND p.number = 0
		WHERE s.id = ?1 AND s.deleted_at IS NULL`, []any{id, listenerPool(id)}, &connection)
	return connection, err
}

func listenerPool(id feedmill.ID) string { return "listener " + string(id) }
