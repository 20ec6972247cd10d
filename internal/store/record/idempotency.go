package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// KeepResponse keeps the response to a request that had no effect.
func (s Store) KeepResponse(ctx context.Context, response feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error { return tx.KeepResponse(ctx, &response) })
}

// KeptResponse finds the response kept for an idempotency key of an owner at the
// time now. One without an owner is everybody's. A key without a response under which another
// replica works is [feedmill.ErrIdempotencyKeyInProgress].
func (s Store) KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error) {
	response := feedmill.IdempotentResponse{Workspace: workspace, Key: key}
	var fingerprint []byte
	err := s.db.One(ctx, `SELECT owner, fingerprint, answer, expires_at FROM (
			SELECT owner, fingerprint, answer, expires_at FROM once WHERE workspace_id = ?1 AND owner IN (?2, '') AND key = ?3 AND expires_at > ?4
			UNION ALL SELECT '', CAST(NULL AS bytea), CAST(NULL AS bytea), until FROM permits WHERE pool = ?5 AND number = 0 AND until > `+s.d.Now+`) r
		ORDER BY answer IS NULL, owner DESC LIMIT 1`,
		[]any{workspace, owner, key, s.time(now), feedmill.IdempotencyPool(workspace, owner, key)},
		&response.Owner, &fingerprint, &response.Answer, s.d.Time(&response.ExpiresAt))
	if err == nil && response.Answer == nil {
		return feedmill.IdempotentResponse{}, feedmill.ErrIdempotencyKeyInProgress
	}
	copy(response.Fingerprint[:], fingerprint)
	return response, err
}

// ForgetResponses removes up to limit responses that are past their time, and
// reports how many it removed.
func (s Store) ForgetResponses(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM once WHERE (workspace_id, owner, key) IN
			(SELECT workspace_id, owner, key FROM once WHERE expires_at <= ?1 LIMIT ?2`+s.d.SkipLocked+`)`, s.time(now), limit)
		return err
	})
	return n, err
}
