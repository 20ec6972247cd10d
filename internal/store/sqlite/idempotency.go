package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
)

// keepResponse writes a response beside the effect it belongs to. A key that has a
// response already is feedmill.ErrIdempotencyKeyUsed, which undoes that effect; a response
// past its time is replaced.
func (t *tx) keepResponse(response *feedmill.IdempotentResponse) error {
	if response == nil {
		return nil
	}
	now := response.ExpiresAt.Add(-feedmill.IdempotencyLifetime)
	n, err := t.exec(`INSERT INTO once (workspace_id, key, fingerprint, answer, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (workspace_id, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
		WHERE once.expires_at <= ?6`,
		response.Workspace, response.Key, response.Fingerprint[:], response.Answer, toMillis(response.ExpiresAt), toMillis(now))
	if err == nil && n == 0 {
		return feedmill.ErrIdempotencyKeyUsed
	}
	return err
}

// KeepResponse keeps the response to a request that had no effect.
func (db *DB) KeepResponse(ctx context.Context, response feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx *tx) error { return tx.keepResponse(&response) })
}

// KeptResponse finds the response kept for an idempotency key at the time now.
func (db *DB) KeptResponse(ctx context.Context, workspace feedmill.ID, key string, now time.Time) (feedmill.IdempotentResponse, error) {
	response := feedmill.IdempotentResponse{Workspace: workspace, Key: key}
	var (
		fingerprint []byte
		expires     sql.NullInt64
	)
	err := db.row(ctx, `SELECT fingerprint, answer, expires_at FROM once
		WHERE workspace_id = ? AND key = ? AND expires_at > ?`, workspace, key, toMillis(now)).
		Scan(&fingerprint, &response.Answer, &expires)
	copy(response.Fingerprint[:], fingerprint)
	response.ExpiresAt = fromMillis(expires)
	return response, translate(err)
}

// ForgetResponses removes up to limit responses that are past their time, and
// reports how many it removed.
func (db *DB) ForgetResponses(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = db.write(ctx, func(tx *tx) (err error) {
		n, err = tx.exec(`DELETE FROM once WHERE (workspace_id, key) IN
			(SELECT workspace_id, key FROM once WHERE expires_at <= ? LIMIT ?)`, toMillis(now), limit)
		return err
	})
	return n, err
}
