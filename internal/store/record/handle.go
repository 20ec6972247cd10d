package record

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

const handleColumns = `workspace_id, object_id, kind, name, set_name, secrets`

// handle lists the fields of a handle.
func handle(h *feedmill.Handle, _ Kinds) []any {
	return []any{&h.Workspace, &h.Object, &h.Kind, &h.Name, &h.Set, &h.Secrets}
}

// handled are the statements that keep the handle of a record in step with a change of it:
// it gets the one of the context, loses its digest of secrets when it is changed in another
// way, and ends with the record.
func handled(ctx context.Context, k Kinds, action string, workspace, id feedmill.ID) []Statement {
	if h := feedmill.HandleOf(ctx); h != nil {
		made := *h
		made.Workspace, made.Object = workspace, id
		return []Statement{upsertHandle(made, k)}
	}
	resource, verb, _ := strings.Cut(action, ".")
	if !slices.Contains([]string{"connection", "sql_view", "feed", "subscription"}, resource) {
		return nil
	}
	switch verb {
	case "update", "upload":
		return []Statement{{`UPDATE handles SET secrets = NULL WHERE workspace_id = ?1 AND object_id = ?2`, []any{workspace, id}}}
	case "delete":
		return []Statement{{`DELETE FROM handles WHERE workspace_id = ?1 AND object_id = ?2`, []any{workspace, id}}}
	}
	return nil
}

func upsertHandle(h feedmill.Handle, k Kinds) Statement {
	s := insert("handles", handleColumns, handle(&h, k)...)
	s.SQL += ` ON CONFLICT (workspace_id, object_id) DO UPDATE SET name = excluded.name, set_name = excluded.set_name, secrets = excluded.secrets`
	return s
}

// Handles lists the handles of a workspace, of one kind or of all.
func (s Store) Handles(ctx context.Context, workspace feedmill.ID, kind feedmill.DefinitionKind) ([]feedmill.Handle, error) {
	return list(ctx, s.db, s, handle, `SELECT `+handleColumns+` FROM handles WHERE workspace_id = ?1 AND (?2 = '' OR kind = ?2) ORDER BY object_id`, workspace, string(kind))
}

// AssignHandles adds handles. One whose object or name has a handle already changes nothing.
func (s Store) AssignHandles(ctx context.Context, handles []feedmill.Handle) error {
	return s.db.Write(ctx, func(tx Tx) error {
		var all []Statement
		for _, h := range handles {
			made := insert("handles", handleColumns, handle(&h, s.d)...)
			made.SQL += ` ON CONFLICT DO NOTHING`
			all = append(all, made)
		}
		return tx.Send(ctx, all...)
	})
}

// SetHandle gives an object a handle, in place of the one that it has. A name that another
// object of the kind has is feedmill.ErrConflict.
func (s Store) SetHandle(ctx context.Context, h feedmill.Handle) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, append([]Statement{upsertHandle(h, s.d)}, Audited(ctx, s.d, h.Workspace, h.Object)...)...)
	})
}

// BeginApply reserves the configuration of a workspace for a holder, or renews the
// reservation. While another holder has it, that is feedmill.ErrConflict.
func (s Store) BeginApply(ctx context.Context, workspace feedmill.ID, holder string, at, until time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `INSERT INTO applies (workspace_id, holder, until) VALUES (?1, ?2, ?3)
			ON CONFLICT (workspace_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE applies.holder = excluded.holder OR applies.until <= ?4`, workspace, holder, s.time(until), s.time(at))
		return orNone(n, err, feedmill.ErrConflict)
	})
}

// EndApply releases the configuration of a workspace, if the holder has it.
func (s Store) EndApply(ctx context.Context, workspace feedmill.ID, holder string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `DELETE FROM applies WHERE workspace_id = ?1 AND holder = ?2`, workspace, holder)
		return err
	})
}
