package record

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
)

// sqlViewColumns are the columns of sqlView, and sqlViewChanging those that a change writes.
const (
	sqlViewColumns  = `workspace_id, id, connection_id, name, created_at, ` + sqlViewChanging
	sqlViewChanging = `statement, fields, updated_at`
	selectSQLViews  = `SELECT ` + sqlViewColumns + ` FROM sql_views WHERE workspace_id = ?1 `
)

// sqlView lists the fields of a SQL view.
func sqlView(v *feedmill.SQLView, k Kinds) []any {
	return append([]any{&v.Workspace, &v.ID, &v.Connection, &v.Name, k.Time(&v.CreatedAt)}, changingSQLView(v, k)...)
}

func changingSQLView(v *feedmill.SQLView, k Kinds) []any {
	return []any{&v.SQL, JSON(&v.Fields), k.Time(&v.UpdatedAt)}
}

// CreateSQLView adds a SQL view to a connection.
func (s Store) CreateSQLView(ctx context.Context, v feedmill.SQLView, most int, response *feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		if _, _, err := s.lockConnection(ctx, tx, v.Workspace, v.Connection); err != nil {
			return err
		}
		var n int
		if err := tx.One(ctx, `SELECT count(*) FROM sql_views WHERE workspace_id = ?1 AND connection_id = ?2`, []any{v.Workspace, v.Connection}, &n); err != nil {
			return err
		}
		if n >= most {
			return &feedmill.QuotaError{}
		}
		made := []Statement{insert("sql_views", sqlViewColumns, sqlView(&v, s.d)...)}
		return tx.Send(ctx, append(made, Audited(ctx, s.d, v.Workspace, v.ID)...)...)
	})
}

// SQLView finds the SQL view of a connection by its name.
func (s Store) SQLView(ctx context.Context, workspace, connection feedmill.ID, name string) (feedmill.SQLView, error) {
	return one(ctx, s.db, s, sqlView, selectSQLViews+`AND connection_id = ?2 AND name = ?3`, workspace, connection, name)
}

// SQLViews lists the SQL views of a connection, or of all, newest first.
func (s Store) SQLViews(ctx context.Context, workspace, connection feedmill.ID, p feedmill.Page) ([]feedmill.SQLView, error) {
	return list(ctx, s.db, s, sqlView, selectSQLViews+`AND (?2 = '' OR connection_id = ?2) AND id < ?3 ORDER BY id DESC LIMIT ?4`,
		workspace, connection, before(p, feedmill.PrefixSQLView), p.Limit)
}

// ChangeSQLView writes the SQL of a view.
func (s Store) ChangeSQLView(ctx context.Context, v feedmill.SQLView, response *feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		changed := update("sql_views", sqlViewChanging, changingSQLView(&v, s.d), v.Workspace, v.ID)
		n, err := tx.Run(ctx, changed.SQL, changed.Args...)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, v.Workspace, v.ID)...)
	})
}

// DeleteSQLView deletes a SQL view. It passes the specs of the feeds of its connection to uses;
// the feeds that use the view are returned with feedmill.ErrConflict.
func (s Store) DeleteSQLView(ctx context.Context, v feedmill.SQLView, uses func(spec []byte) bool) (users []feedmill.FeedReference, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		users = nil
		if _, _, err := s.lockConnection(ctx, tx, v.Workspace, v.Connection); err != nil {
			return err
		}
		n, err := tx.Run(ctx, `DELETE FROM sql_views WHERE workspace_id = ?1 AND id = ?2`, v.Workspace, v.ID)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		err = tx.Each(ctx, func(row Row) error {
			var user feedmill.FeedReference
			var spec []byte
			if err := row.Scan(&user.ID, &user.Name, &spec); err != nil {
				return err
			}
			if uses(spec) {
				users = append(users, user)
			}
			return nil
		}, `SELECT f.id, f.name, s.spec FROM feeds f JOIN sources s ON s.workspace_id = f.workspace_id AND s.id = f.source_id
			WHERE s.workspace_id = ?1 AND s.type = ?2 AND s.host = ?3 ORDER BY f.id DESC`, v.Workspace, feedmill.ConnectedType(), string(v.Connection))
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return fmt.Errorf("delete a SQL view that %d feeds use: %w", len(users), feedmill.ErrConflict)
		}
		return tx.Send(ctx, Audited(ctx, s.d, v.Workspace, v.ID)...)
	})
	return users, err
}

// deleteSQLViews are the statements that delete the SQL views of a connection with their handles.
func deleteSQLViews(workspace, connection feedmill.ID) []Statement {
	return []Statement{
		{`DELETE FROM handles WHERE workspace_id = ?1 AND object_id IN (SELECT id FROM sql_views WHERE workspace_id = ?1 AND connection_id = ?2)`, []any{workspace, connection}},
		{`DELETE FROM sql_views WHERE workspace_id = ?1 AND connection_id = ?2`, []any{workspace, connection}},
	}
}
