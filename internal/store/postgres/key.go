package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanKey = scanner(record.Key)

func (t tx) insertKey(ctx context.Context, k feedmill.Key, onConflict string) (int64, error) {
	return t.exec(ctx, `INSERT INTO keys (`+record.KeyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) `+onConflict,
		record.Key(&k, kinds{})...)
}

// CreateKey adds a key. A workspace that is not there is feedmill.ErrNotFound.
func (db *DB) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error {
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		_, err := tx.insertKey(ctx, k, "")
		return err
	})
}

// Bootstrap makes sure that the workspace w.Name exists and that k is one of
// its keys. With onlyFirst, k is added only where there has never been a key.
// It reports whether k was added; a hash that was ever known is left alone,
// revoked or not.
func (db *DB) Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error) {
	err = db.write(ctx, func(tx tx) error {
		if _, err := tx.exec(ctx, `INSERT INTO workspaces (`+record.WorkspaceColumns+`) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`,
			record.Workspace(&w, kinds{})...); err != nil {
			return err
		}
		// The row's lock makes replicas that start together go one by one.
		err := tx.QueryRow(ctx, `SELECT id FROM workspaces WHERE name = $1 FOR UPDATE`, w.Name).Scan(&k.Workspace)
		if err != nil {
			return translate(err)
		}
		if onlyFirst {
			var any bool
			err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM keys)`).Scan(&any)
			if err != nil || any {
				return translate(err)
			}
		}
		n, err := tx.insertKey(ctx, k, "ON CONFLICT (hash) DO NOTHING")
		added = n == 1
		return err
	})
	return added && err == nil, err
}

// KeyByHash finds a key, revoked or not.
func (db *DB) KeyByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Key, error) {
	return scanKey(db.pool.QueryRow(ctx, `SELECT `+record.KeyColumns+` FROM keys WHERE hash = $1`, hash[:]))
}

// Keys lists the keys of a workspace that are not revoked, newest first; of all
// workspaces where none is named.
func (db *DB) Keys(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Key, error) {
	rows, err := db.rows(ctx, `SELECT `+record.KeyColumns+` FROM keys
		WHERE revoked_at IS NULL AND ($1 = '' OR workspace_id = $1) AND ($2 = '' OR id < $2)
		ORDER BY id DESC LIMIT $3`, workspace, p.Before, p.Limit)
	return all(rows, err, scanKey)
}

// RevokeKey ends a key of the workspace, or of any where none is named. A key
// that is not there or is revoked already is feedmill.ErrNotFound.
func (db *DB) RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE keys SET revoked_at = $1
			WHERE id = $2 AND ($3 = '' OR workspace_id = $3) AND revoked_at IS NULL`, at, id, workspace)
		if err == nil && n == 0 {
			return feedmill.ErrNotFound
		}
		return err
	})
}

// TouchKeys notes when keys were last used; a time before the one known is ignored.
func (db *DB) TouchKeys(ctx context.Context, used map[feedmill.ID]time.Time) error {
	ids, times := make([]string, 0, len(used)), make([]time.Time, 0, len(used))
	for id, at := range used {
		ids, times = append(ids, string(id)), append(times, at)
	}
	return db.write(ctx, func(tx tx) error {
		_, err := tx.exec(ctx, `UPDATE keys SET last_used_at = greatest(last_used_at, t.at)
			FROM (SELECT unnest($1::text[]) AS id, unnest($2::timestamptz[]) AS at) t WHERE keys.id = t.id`, ids, times)
		return err
	})
}
