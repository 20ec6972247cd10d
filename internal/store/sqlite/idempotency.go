package sqlite

import "github.com/feedmill/feedmill"

// keepResponse writes a response beside the effect it belongs to. A key that has a
// response already is feedmill.ErrIdempotencyKeyUsed, which undoes that effect; a response
// past its time is replaced.
func (t *tx) keepResponse(response *feedmill.IdempotentResponse) error {
	if response == nil {
		return nil
	}
	now := response.ExpiresAt.Add(-feedmill.IdempotencyLifetime)
	n, err := t.exec(`INSERT INTO once (workspace_id, owner, key, fingerprint, answer, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (workspace_id, owner, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
		WHERE once.expires_at <= ?7`,
		response.Workspace, response.Owner, response.Key, response.Fingerprint[:], response.Answer, toMillis(response.ExpiresAt), toMillis(now))
	if err == nil && n == 0 {
		return feedmill.ErrIdempotencyKeyUsed
	}
	return err
}
