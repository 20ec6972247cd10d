package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// SignInColumns are the columns of SignIn.
const SignInColumns = `link, visit, workspace_id, service, connection_id, redirect_uri, state, secrets, created_at, expires_at`

// SignIn lists the fields of a sign-in.
func SignIn(s *feedmill.SignIn, k Kinds) []any {
	return []any{&s.Link, &s.Visit, &s.Workspace, &s.Service, &s.Connection, &s.RedirectURI, &s.State, &s.Secrets, k.Time(&s.CreatedAt), k.Time(&s.ExpiresAt)}
}

// CreateSignIn adds a sign-in.
func (s Store) CreateSignIn(ctx context.Context, in feedmill.SignIn) error {
	return s.create(ctx, nil, insert("sign_ins", SignInColumns, SignIn(&in, s.d)...), nil)
}

// SignInByLink finds a sign-in by the hash of its link.
func (s Store) SignInByLink(ctx context.Context, link []byte) (feedmill.SignIn, error) {
	return one(ctx, s.db, s, SignIn, `SELECT `+SignInColumns+` FROM sign_ins WHERE link = ?1`, link)
}

// SignInByVisit finds a sign-in by the hash of what the browser holds.
func (s Store) SignInByVisit(ctx context.Context, visit []byte) (feedmill.SignIn, error) {
	return one(ctx, s.db, s, SignIn, `SELECT `+SignInColumns+` FROM sign_ins WHERE visit = ?1`, visit)
}

// ChangeSignIn changes a sign-in while nobody else can.
func (s Store) ChangeSignIn(ctx context.Context, link []byte, change func(*feedmill.SignIn) error) (in feedmill.SignIn, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if in, err = one(ctx, tx, s, SignIn, `SELECT `+SignInColumns+` FROM sign_ins WHERE link = ?1`+s.d.ForUpdate, link); err != nil {
			return err
		}
		if err := change(&in); err != nil {
			return err
		}
		_, err := tx.Run(ctx, `UPDATE sign_ins SET visit = ?1, connection_id = ?2, state = ?3, secrets = ?4, expires_at = ?5 WHERE link = ?6`,
			in.Visit, in.Connection, in.State, in.Secrets, s.time(in.ExpiresAt), link)
		return err
	})
	return in, err
}

// GrantedSignIns lists up to limit sign-ins that ended before a time after the provider
// had said yes and before a feed was made.
func (s Store) GrantedSignIns(ctx context.Context, before time.Time, limit int) ([]feedmill.SignIn, error) {
	return list(ctx, s.db, s, SignIn, `SELECT `+SignInColumns+` FROM sign_ins WHERE expires_at < ?1 AND state = ?2 ORDER BY expires_at LIMIT ?3`,
		s.time(before), feedmill.SignInGranted, limit)
}

// ForgetSignIns removes up to limit sign-ins that ended before a time, and reports
// how many. Those stay whose grant has not been given back.
func (s Store) ForgetSignIns(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM sign_ins WHERE link IN (SELECT link FROM sign_ins WHERE expires_at < ?1 AND state <> ?2 ORDER BY expires_at LIMIT ?3`+s.d.SkipLocked+`)`,
			s.time(before), feedmill.SignInGranted, limit)
		return err
	})
	return n, err
}
