package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// SessionColumns are the columns of Session.
const SessionColumns = `id, workspace_id, key_id, token, former, created_at, rotated_at, seen_at, subject, name, scopes, home_id`

// Session lists the fields of a session.
func Session(s *feedmill.Session, k Kinds) []any {
	return []any{
		&s.ID, &s.Workspace, &s.Key,
		keyHash{&s.Token},
		keyHash{&s.Former},
		k.Time(&s.CreatedAt), k.Time(&s.RotatedAt), k.Time(&s.SeenAt),
		&s.Person.Subject, &s.Person.Name,
		scopes{&s.Person.Scopes},
		&s.Person.Home,
	}
}

// KeyByID finds a key, revoked or not.
func (s Store) KeyByID(ctx context.Context, id feedmill.ID) (feedmill.Key, error) {
	return one(ctx, s.db, s, Key, `SELECT `+KeyColumns+` FROM keys WHERE id = ?1`, id)
}

// CreateSession adds a session.
func (s Store) CreateSession(ctx context.Context, n feedmill.Session) error {
	return s.create(ctx, nil, insert("sessions", SessionColumns, Session(&n, s.d)...), Audited(ctx, s.d, n.Workspace, n.ID))
}

// SessionByToken finds the session whose token, present or former, has the hash.
func (s Store) SessionByToken(ctx context.Context, hash feedmill.KeyHash) (feedmill.Session, error) {
	return one(ctx, s.db, s, Session, `SELECT `+SessionColumns+` FROM sessions WHERE token = ?1 OR former = ?1 LIMIT 1`, hash[:])
}

// RotateSession gives a session another token, unless somebody has before. It
// reports whether it did.
func (s Store) RotateSession(ctx context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (rotated bool, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE sessions SET token = ?1, former = ?2, rotated_at = ?3, seen_at = ?3 WHERE id = ?4 AND token = ?2`,
			to[:], from[:], s.time(at), id)
		rotated = n == 1
		return err
	})
	return rotated, err
}

// TouchSession notes that a session was used.
func (s Store) TouchSession(ctx context.Context, id feedmill.ID, at time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE sessions SET seen_at = ?1 WHERE id = ?2 AND seen_at < ?1`, s.time(at), id)
		return err
	})
}

// MoveSession has a session work in another workspace.
func (s Store) MoveSession(ctx context.Context, id, workspace feedmill.ID) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE sessions SET workspace_id = ?1 WHERE id = ?2`, workspace, id)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, workspace, id)...)
	})
}

// DeleteSession ends a session.
func (s Store) DeleteSession(ctx context.Context, id feedmill.ID) error {
	return s.db.Write(ctx, func(tx Tx) error {
		var workspace feedmill.ID
		if err := tx.One(ctx, `DELETE FROM sessions WHERE id = ?1 RETURNING workspace_id`, []any{id}, &workspace); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, workspace, id)...)
	})
}

// ForgetSessions removes up to limit sessions that were made before a time, and
// reports how many it removed.
func (s Store) ForgetSessions(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE created_at < ?1 LIMIT ?2`+s.d.SkipLocked+`)`, s.time(before), limit)
		return err
	})
	return n, err
}

// AddSignInLink adds a link that signs in with a key until a time. Links that have expired are
// removed.
func (s Store) AddSignInLink(ctx context.Context, hash feedmill.KeyHash, key feedmill.ID, now, until time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`DELETE FROM sign_in_links WHERE expires_at <= ?1`, []any{s.time(now)}},
			insert("sign_in_links", `hash, key_id, expires_at`, hash[:], key, s.time(until)))
	})
}

// UseSignInLink removes a link and returns its key. A link that was used or has expired is
// [feedmill.ErrNotFound].
func (s Store) UseSignInLink(ctx context.Context, hash feedmill.KeyHash, now time.Time) (key feedmill.ID, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		return tx.One(ctx, `DELETE FROM sign_in_links WHERE hash = ?1 AND expires_at > ?2 RETURNING key_id`, []any{hash[:], s.time(now)}, &key)
	})
	return key, err
}
