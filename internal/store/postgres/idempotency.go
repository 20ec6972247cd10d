package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// upsertResponse writes a response, or nothing where the key has one already; a
// response past its time is replaced.
const upsertResponse = `INSERT INTO once (workspace_id, key, fingerprint, answer, expires_at) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (workspace_id, key) DO UPDATE
	SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
	WHERE once.expires_at <= $6`

// responseValues are the values of upsertResponse.
func responseValues(response *feedmill.IdempotentResponse) []any {
	now := response.ExpiresAt.Add(-feedmill.IdempotencyLifetime)
	return []any{response.Workspace, response.Key, response.Fingerprint[:], response.Answer, response.ExpiresAt, now}
}

// keepResponse writes a response beside the effect it belongs to. A key that has a
// response already is feedmill.ErrIdempotencyKeyUsed, which undoes that effect.
func (t tx) keepResponse(ctx context.Context, response *feedmill.IdempotentResponse) error {
	if response == nil {
		return nil
	}
	n, err := t.exec(ctx, upsertResponse, responseValues(response)...)
	if err == nil && n == 0 {
		return feedmill.ErrIdempotencyKeyUsed
	}
	return err
}

// KeepResponse keeps the response to a request that had no effect.
func (db *DB) KeepResponse(ctx context.Context, response feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error { return tx.keepResponse(ctx, &response) })
}

// KeptResponse finds the response kept for an idempotency key at the time now.
func (db *DB) KeptResponse(ctx context.Context, workspace feedmill.ID, key string, now time.Time) (feedmill.IdempotentResponse, error) {
	response := feedmill.IdempotentResponse{Workspace: workspace, Key: key}
	var fingerprint []byte
	err := db.pool.QueryRow(ctx, `SELECT fingerprint, answer, expires_at FROM once
		WHERE workspace_id = $1 AND key = $2 AND expires_at > $3`, workspace, key, now).
		Scan(&fingerprint, &response.Answer, &response.ExpiresAt)
	copy(response.Fingerprint[:], fingerprint)
	response.ExpiresAt = response.ExpiresAt.UTC()
	return response, translate(err)
}

// ForgetResponses removes up to limit responses that are past their time, and
// reports how many it removed.
func (db *DB) ForgetResponses(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = db.write(ctx, func(tx tx) (err error) {
		n, err = tx.exec(ctx, `DELETE FROM once WHERE (workspace_id, key) IN
			(SELECT workspace_id, key FROM once WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`, now, limit)
		return err
	})
	return n, err
}
