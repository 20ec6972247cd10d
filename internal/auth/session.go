package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// Sessions keeps who has signed in.
type Sessions interface {
	// KeyByID returns the key, revoked or not.
	KeyByID(ctx context.Context, id feedmill.ID) (feedmill.Key, error)
	CreateSession(ctx context.Context, s feedmill.Session) error
	// SessionByToken returns the session whose token, present or former, has
	// the hash.
	SessionByToken(ctx context.Context, hash feedmill.KeyHash) (feedmill.Session, error)
	// RotateSession gives a session another token, unless it has another than
	// from already, and reports whether it did.
	RotateSession(ctx context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (bool, error)
	TouchSession(ctx context.Context, id feedmill.ID, at time.Time) error
	MoveSession(ctx context.Context, id, workspace feedmill.ID) error
	DeleteSession(ctx context.Context, id feedmill.ID) error
}

// signInAgain is what is said of every session that is over, for whatever reason.
const signInAgain = "The session has ended. Sign in again."

// AuthenticateSession returns who the token of a session stands for. It is
// remembered as a key is, and ends with its key.
func (a *Authenticator) AuthenticateSession(ctx context.Context, token string) (feedmill.Principal, error) {
	hash, now := feedmill.HashKey(token), time.Now()
	if hit, ok := a.verified.get(hash, now); ok {
		a.used.note(hit.key, now)
		return hit.principal, nil
	}
	epoch := a.verified.epoch()
	_, fresh, err := a.session(ctx, hash, now)
	if err != nil {
		return feedmill.Principal{}, err
	}
	a.used.note(fresh.key, now)
	a.verified.put(hash, fresh, epoch, now)
	return fresh.principal, nil
}

// session verifies the hash of a token against the store.
func (a *Authenticator) session(ctx context.Context, hash feedmill.KeyHash, now time.Time) (feedmill.Session, entry, error) {
	s, err := a.store.SessionByToken(ctx, hash)
	former := !s.Token.Equal(hash)
	switch {
	case errors.Is(err, feedmill.ErrNotFound),
		err == nil && former && (!s.Former.Equal(hash) || now.After(s.RotatedAt.Add(feedmill.SessionGrace))),
		err == nil && !now.Before(s.Ends()):
		return s, entry{}, refuse(signInAgain)
	case err != nil:
		return s, entry{}, fmt.Errorf("look up session: %w", err)
	}
	key, err := a.store.KeyByID(ctx, s.Key)
	if errors.Is(err, feedmill.ErrNotFound) {
		return s, entry{}, refuse(signInAgain)
	}
	if err != nil {
		return s, entry{}, fmt.Errorf("look up key of session: %w", err)
	}
	verified, err := a.verify(ctx, key, now)
	if err != nil {
		return s, entry{}, err
	}
	if s.Workspace != key.Workspace && !verified.principal.AllWorkspaces {
		return s, entry{}, refuse(signInAgain)
	}
	verified.principal.Workspace = s.Workspace
	verified.expires = earlier(verified.expires, s.Ends())
	if former {
		verified.expires = earlier(verified.expires, s.RotatedAt.Add(feedmill.SessionGrace))
	}
	if now.Sub(s.SeenAt) >= feedmill.SessionTouch {
		if err := a.store.TouchSession(ctx, s.ID, moment(now)); err != nil {
			return s, entry{}, fmt.Errorf("note use of session: %w", err)
		}
		s.SeenAt = moment(now)
	}
	return s, verified, nil
}

// moment is a time as records keep it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// BeginSession makes a session for an API key that was authenticated, and
// returns its token.
func (a *Authenticator) BeginSession(ctx context.Context, who feedmill.Principal) (token string, s feedmill.Session, err error) {
	if !feedmill.IsID(feedmill.PrefixKey, who.Subject) {
		return "", s, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "Only an API key can sign in here."}
	}
	token = feedmill.NewSessionToken()
	at := moment(time.Now())
	s = feedmill.Session{
		ID: feedmill.NewID(feedmill.PrefixSession), Workspace: who.Workspace, Key: feedmill.ID(who.Subject),
		Token: feedmill.HashKey(token), CreatedAt: at, RotatedAt: at, SeenAt: at,
	}
	if err := a.store.CreateSession(ctx, s); err != nil {
		return "", s, err
	}
	return token, s, nil
}

// RenewSession reads a session and gives it another token where it is time to,
// which it returns then.
func (a *Authenticator) RenewSession(ctx context.Context, token string) (renewed string, s feedmill.Session, err error) {
	hash, now := feedmill.HashKey(token), time.Now()
	s, _, err = a.session(ctx, hash, now)
	if err != nil || !s.Token.Equal(hash) || now.Sub(s.RotatedAt) < feedmill.SessionRotation {
		return "", s, err
	}
	renewed = feedmill.NewSessionToken()
	rotated, err := a.store.RotateSession(ctx, s.ID, hash, feedmill.HashKey(renewed), moment(now))
	if err != nil || !rotated {
		return "", s, err
	}
	a.verified.forget(s.Key)
	return renewed, s, nil
}

// MoveSession has the session of a token work in another workspace. Whether it
// may is for the caller to know.
func (a *Authenticator) MoveSession(ctx context.Context, token string, workspace feedmill.ID) error {
	s, _, err := a.session(ctx, feedmill.HashKey(token), time.Now())
	if err != nil {
		return err
	}
	defer a.verified.forget(s.Key)
	return a.store.MoveSession(ctx, s.ID, workspace)
}

// EndSession ends the session of a token.
func (a *Authenticator) EndSession(ctx context.Context, token string) error {
	s, err := a.store.SessionByToken(ctx, feedmill.HashKey(token))
	if err != nil {
		return err
	}
	defer a.verified.forget(s.Key)
	return a.store.DeleteSession(ctx, s.ID)
}
