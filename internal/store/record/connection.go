package record

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
)

const selectConnections = `SELECT ` + ConnectionColumns + ` FROM connections WHERE workspace_id = ?1 `

// CreateConnection adds a connection. A name that is taken is
// feedmill.ErrConflict, and one more than most a feedmill.QuotaError.
func (s Store) CreateConnection(ctx context.Context, c feedmill.Connection, most int, response *feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		if s.d.LockWorkspace != "" {
			if _, err := tx.Run(ctx, s.d.LockWorkspace, c.Workspace); err != nil {
				return err
			}
		}
		var n int
		if err := tx.One(ctx, `SELECT count(*) FROM connections WHERE workspace_id = ?1`, []any{c.Workspace}, &n); err != nil {
			return err
		}
		if n >= most {
			return &feedmill.QuotaError{}
		}
		made := []Statement{insert("connections", ConnectionColumns, Connection(&c, s.d)...)}
		return tx.Send(ctx, append(made, Audited(ctx, s.d, c.Workspace, c.ID)...)...)
	})
}

// Connection finds a connection.
func (s Store) Connection(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, error) {
	return one(ctx, s.db, s, Connection, selectConnections+`AND id = ?2`, workspace, id)
}

// ConnectionOf finds the connection of a service.
func (s Store) ConnectionOf(ctx context.Context, workspace feedmill.ID, service string) (feedmill.Connection, error) {
	return one(ctx, s.db, s, Connection, selectConnections+`AND service_name = ?2`, workspace, service)
}

// Connections lists connections, newest first.
func (s Store) Connections(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Connection, error) {
	return list(ctx, s.db, s, Connection, selectConnections+`AND id < ?2 ORDER BY id DESC LIMIT ?3`,
		workspace, before(p, feedmill.PrefixConnection), p.Limit)
}

// ChangeConnection changes a connection, alone with it. The change is told which
// feeds use it.
func (s Store) ChangeConnection(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Connection, []feedmill.FeedReference) error) (c feedmill.Connection, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		old, users, err := s.lockConnection(ctx, tx, workspace, id)
		if err != nil {
			return err
		}
		c = old
		if err := change(&c, users); err != nil {
			return err
		}
		c.ID, c.Workspace, c.Connector, c.CreatedAt = old.ID, old.Workspace, old.Connector, old.CreatedAt
		changed := update("connections", ConnectionChanging, ChangingConnection(&c, s.d), workspace, id)
		return tx.Send(ctx, append([]Statement{changed}, Audited(ctx, s.d, workspace, id)...)...)
	})
	if err != nil {
		return feedmill.Connection{}, err
	}
	return c, nil
}

// DeleteConnection deletes a connection that no feed uses. Those that do are
// returned with feedmill.ErrConflict.
func (s Store) DeleteConnection(ctx context.Context, workspace, id feedmill.ID) (users []feedmill.FeedReference, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if _, users, err = s.lockConnection(ctx, tx, workspace, id); err != nil {
			return err
		}
		if len(users) > 0 {
			return fmt.Errorf("delete a connection that %d feeds use: %w", len(users), feedmill.ErrConflict)
		}
		deleted := append(deleteSQLViews(workspace, id), Statement{`DELETE FROM connections WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, id}})
		return tx.Send(ctx, append(deleted, Audited(ctx, s.d, workspace, id)...)...)
	})
	return users, err
}

// lockConnection finds a connection that nobody else can change until the end of
// the transaction, nor begin to use, and the feeds that use it.
func (s Store) lockConnection(ctx context.Context, tx Tx, workspace, id feedmill.ID) (c feedmill.Connection, users []feedmill.FeedReference, err error) {
	if err := s.lock(ctx, tx, `connections WHERE workspace_id = ?1 AND id = ?2`, workspace, id); err != nil {
		return c, nil, err
	}
	if c, err = one(ctx, tx, s, Connection, selectConnections+`AND id = ?2`, workspace, id); err != nil {
		return c, nil, err
	}
	// The host of a source of this type is its connection.
	err = tx.Each(ctx, func(row Row) error {
		var user feedmill.FeedReference
		err := row.Scan(&user.ID, &user.Name)
		users = append(users, user)
		return err
	}, `SELECT f.id, f.name FROM feeds f JOIN sources s ON s.workspace_id = f.workspace_id AND s.id = f.source_id
		WHERE s.workspace_id = ?1 AND s.type = ?2 AND s.host = ?3 ORDER BY f.id DESC LIMIT 100`, workspace, feedmill.ConnectedType(), string(id))
	return c, users, err
}

// useConnection keeps the connection of a new source from being deleted at the
// same time. One that is gone already is feedmill.ErrConflict.
func (s Store) useConnection(ctx context.Context, tx Tx, source *feedmill.Source) error {
	if source == nil || !source.Type.Kind().Connected || !feedmill.IsID(feedmill.PrefixConnection, source.Host) {
		return nil
	}
	if err := s.lock(ctx, tx, `connections WHERE workspace_id = ?1 AND id = ?2`, source.Workspace, source.Host); err != nil {
		return err
	}
	var there bool
	err := tx.One(ctx, `SELECT EXISTS (SELECT 1 FROM connections WHERE workspace_id = ?1 AND id = ?2)`, []any{source.Workspace, source.Host}, &there)
	if err == nil && !there {
		err = fmt.Errorf("use a connection that is gone: %w", feedmill.ErrConflict)
	}
	return err
}
