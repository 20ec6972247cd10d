package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanKey = scanner(record.Key)

func (t *tx) insertKey(k feedmill.Key) error {
	_, err := t.exec(`INSERT INTO keys (`+record.KeyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		record.Key(&k, kinds{})...)
	return err
}

// CreateKey adds a key. A workspace that is not there is feedmill.ErrNotFound.
func (db *DB) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.keepResponse(response); err != nil {
			return err
		}
		return tx.insertKey(k)
	})
}

// Bootstrap makes sure that the workspace w.Name exists and that k is one of
// its keys. With onlyFirst, k is added only where there has never been a key.
// It reports whether k was added; a hash that was ever known is left alone,
// revoked or not.
func (db *DB) Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`INSERT INTO workspaces (`+record.WorkspaceColumns+`) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING`,
			record.Workspace(&w, kinds{})...); err != nil {
			return err
		}
		var known bool
		err := tx.row(`SELECT EXISTS (SELECT 1 FROM keys WHERE ?1 OR hash = ?2)`, onlyFirst, k.Hash[:]).Scan(&known)
		if err != nil || known {
			return translate(err)
		}
		if err := tx.row(`SELECT id FROM workspaces WHERE name = ?`, w.Name).Scan(&k.Workspace); err != nil {
			return translate(err)
		}
		added = true
		return tx.insertKey(k)
	})
	return added && err == nil, err
}

// KeyByHash finds a key, revoked or not.
func (db *DB) KeyByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Key, error) {
	return scanKey(db.row(ctx, `SELECT `+record.KeyColumns+` FROM keys WHERE hash = ?`, hash[:]))
}

// Keys lists the keys of a workspace that are not revoked, newest first; of all
// workspaces where none is named.
func (db *DB) Keys(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Key, error) {
	rows, err := db.rows(ctx, `SELECT `+record.KeyColumns+` FROM keys
		WHERE revoked_at IS NULL AND (?1 = '' OR workspace_id = ?1) AND (?2 = '' OR id < ?2)
		ORDER BY id DESC LIMIT ?3`, workspace, p.Before, p.Limit)
	return all(rows, err, scanKey)
}

// RevokeKey ends a key of the workspace, or of any where none is named. A key
// that is not there or is revoked already is feedmill.ErrNotFound.
func (db *DB) RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE keys SET revoked_at = ?1
			WHERE id = ?2 AND (?3 = '' OR workspace_id = ?3) AND revoked_at IS NULL`, toMillis(at), id, workspace)
		if err == nil && n == 0 {
			return feedmill.ErrNotFound
		}
		return err
	})
}

// TouchKeys notes when keys were last used; a time before the one known is ignored.
func (db *DB) TouchKeys(ctx context.Context, used map[feedmill.ID]time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		var errs []error
		for id, at := range used {
			_, err := tx.exec(`UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?`, toMillis(at), id)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}
