package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// keepAnswer writes a kept answer, or nothing where the key has one already; an
// answer past its time is replaced.
const keepAnswer = `INSERT INTO once (workspace_id, key, fingerprint, answer, expires_at) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (workspace_id, key) DO UPDATE
	SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
	WHERE once.expires_at <= $6`

// keepValues are the values of keepAnswer.
func keepValues(once *feedmill.Once) []any {
	now := once.ExpiresAt.Add(-feedmill.OnceLifetime)
	return []any{once.Workspace, once.Key, once.Fingerprint[:], once.Answer, once.ExpiresAt, now}
}

// keep writes a kept answer beside the effect it belongs to. A key that has an
// answer already is feedmill.ErrAnswered, which undoes that effect.
func (t tx) keep(ctx context.Context, once *feedmill.Once) error {
	if once == nil {
		return nil
	}
	n, err := t.exec(ctx, keepAnswer, keepValues(once)...)
	if err == nil && n == 0 {
		return feedmill.ErrAnswered
	}
	return err
}

// Keep keeps the answer to a request that had no effect.
func (db *DB) Keep(ctx context.Context, once feedmill.Once) error {
	return db.write(ctx, func(tx tx) error { return tx.keep(ctx, &once) })
}

// Answered finds the answer kept for an idempotency key at the time now.
func (db *DB) Answered(ctx context.Context, workspace feedmill.ID, key string, now time.Time) (feedmill.Once, error) {
	once := feedmill.Once{Workspace: workspace, Key: key}
	var fingerprint []byte
	err := db.pool.QueryRow(ctx, `SELECT fingerprint, answer, expires_at FROM once
		WHERE workspace_id = $1 AND key = $2 AND expires_at > $3`, workspace, key, now).
		Scan(&fingerprint, &once.Answer, &once.ExpiresAt)
	copy(once.Fingerprint[:], fingerprint)
	once.ExpiresAt = once.ExpiresAt.UTC()
	return once, translate(err)
}

// ForgetAnswers removes up to limit answers that are past their time, and
// reports how many it removed.
func (db *DB) ForgetAnswers(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = db.write(ctx, func(tx tx) (err error) {
		n, err = tx.exec(ctx, `DELETE FROM once WHERE (workspace_id, key) IN
			(SELECT workspace_id, key FROM once WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`, now, limit)
		return err
	})
	return n, err
}
