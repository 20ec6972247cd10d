package record

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// CreateKey adds a key. A workspace that is not there is feedmill.ErrNotFound.
func (s Store) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	return s.create(ctx, response, insert("keys", KeyColumns, Key(&k, s.d)...), Audited(ctx, s.d, k.Workspace, k.ID))
}

// Bootstrap makes sure that the workspace w.Name exists and that k is one of
// its keys. With onlyFirst, k is added only where there has never been a key.
// It reports whether k was added; a hash that was ever known is left alone,
// revoked or not.
func (s Store) Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		workspace := insert("workspaces", WorkspaceColumns, Workspace(&w, s.d)...)
		if _, err := tx.Run(ctx, workspace.SQL+` ON CONFLICT (name) DO NOTHING`, workspace.Args...); err != nil {
			return err
		}
		// The row's lock makes replicas that start together go one by one.
		if err := tx.One(ctx, `SELECT id FROM workspaces WHERE name = ?1`+s.d.ForUpdate, []any{w.Name}, &k.Workspace); err != nil {
			return err
		}
		var known bool
		if err := tx.One(ctx, `SELECT EXISTS (SELECT 1 FROM keys)`, nil, &known); err != nil || known && onlyFirst {
			return err
		}
		key := insert("keys", KeyColumns, Key(&k, s.d)...)
		n, err := tx.Run(ctx, key.SQL+` ON CONFLICT (hash) DO NOTHING`, key.Args...)
		added = n == 1
		return err
	})
	return added && err == nil, err
}

// KeyByHash finds a key, revoked or not.
func (s Store) KeyByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Key, error) {
	return one(ctx, s.db, s, Key, `SELECT `+KeyColumns+` FROM keys WHERE hash = ?1`, hash[:])
}

// Keys lists keys, newest first.
func (s Store) Keys(ctx context.Context, q feedmill.KeyQuery) ([]feedmill.Key, error) {
	return list(ctx, s.db, s, Key, `SELECT `+KeyColumns+` FROM keys
		WHERE (?1 OR revoked_at IS NULL) AND (?2 = '' OR workspace_id = ?2) AND id < ?3 ORDER BY id DESC LIMIT ?4`,
		q.Revoked, q.Workspace, before(q.Page, feedmill.PrefixKey), q.Limit)
}

// RevokeKey ends a key of the workspace, or of any where none is named. A key
// that is not there or is revoked already is feedmill.ErrNotFound. The last admin key
// of the default workspace cannot be revoked: nobody could create another key.
func (s Store) RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		// Of two that are revoked together, one waits for the other.
		if err := s.lock(ctx, tx, `workspaces WHERE name = ?1`, feedmill.DefaultWorkspace); err != nil {
			return err
		}
		var of feedmill.ID
		err := tx.One(ctx, `UPDATE keys SET revoked_at = ?1
			WHERE id = ?2 AND (?3 = '' OR workspace_id = ?3) AND revoked_at IS NULL RETURNING workspace_id`, []any{s.time(at), id, workspace}, &of)
		if err != nil {
			return err
		}
		if err := s.keepAdmin(ctx, tx, of, id, at); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, of, id)...)
	})
}

// keepAdmin refuses to have revoked a key of the default workspace that was its last admin.
func (s Store) keepAdmin(ctx context.Context, tx Tx, workspace, revoked feedmill.ID, at time.Time) error {
	w, err := s.workspace(ctx, tx, `WHERE id = ?1`, workspace)
	if err != nil || w.Name != feedmill.DefaultWorkspace {
		return err
	}
	keys, err := list(ctx, tx, s, Key, `SELECT `+KeyColumns+` FROM keys WHERE workspace_id = ?1 AND (revoked_at IS NULL OR id = ?2)`, workspace, revoked)
	if err != nil {
		return err
	}
	var was bool
	for _, k := range keys {
		admin := slices.Contains(k.Scopes, feedmill.ScopeAdmin) && (k.ExpiresAt.IsZero() || k.ExpiresAt.After(at))
		if admin && k.ID != revoked {
			return nil
		}
		was = was || admin
	}
	if !was {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "last-admin-key",
		Detail: "This is the last key with the scope admin in the workspace default. Create another admin key before you revoke it.",
	}
}

// TouchKeys notes when keys and workspaces were last used; a time before the one known is
// ignored. Replicas do it in the same order, so that they cannot lock each other out.
func (s Store) TouchKeys(ctx context.Context, used map[feedmill.ID]time.Time) error {
	var touch []Statement
	for _, id := range slices.Sorted(maps.Keys(used)) {
		query := `UPDATE keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)`
		if feedmill.IsID(feedmill.PrefixWorkspace, string(id)) {
			query = `UPDATE workspaces SET last_request_at = ?1 WHERE id = ?2 AND (last_request_at IS NULL OR last_request_at < ?1)`
		}
		touch = append(touch, Statement{query, []any{s.time(used[id]), id}})
	}
	return s.db.Write(ctx, func(tx Tx) error { return tx.Send(ctx, touch...) })
}
