package postgres

import (
	"context"

	"github.com/feedmill/feedmill"
)

// upsertResponse writes a response, or nothing where the key has one already; a
// response past its time is replaced.
const upsertResponse = `INSERT INTO once (workspace_id, owner, key, fingerprint, answer, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (workspace_id, owner, key) DO UPDATE
	SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
	WHERE once.expires_at <= $7`

// responseValues are the values of upsertResponse.
func responseValues(response *feedmill.IdempotentResponse) []any {
	now := response.ExpiresAt.Add(-feedmill.IdempotencyLifetime)
	return []any{response.Workspace, response.Owner, response.Key, response.Fingerprint[:], response.Answer, response.ExpiresAt, now}
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
