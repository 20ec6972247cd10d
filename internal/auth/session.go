package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Sessions stores browser sessions.
type Sessions interface {
	// KeyByID returns the key, revoked or not.
	KeyByID(ctx context.Context, id feedmill.ID) (feedmill.Key, error)
	CreateSession(ctx context.Context, s feedmill.Session) error
	// SessionByToken returns the session whose current or previous token has the hash.
	SessionByToken(ctx context.Context, hash feedmill.KeyHash) (feedmill.Session, error)
	// RotateSession replaces the token of a session if it is from. It reports whether it
	// did.
	RotateSession(ctx context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (bool, error)
	TouchSession(ctx context.Context, id feedmill.ID, at time.Time) error
	MoveSession(ctx context.Context, id, workspace feedmill.ID) error
	DeleteSession(ctx context.Context, id feedmill.ID) error
	// AddSignInLink adds a link that signs in with a key until a time. UseSignInLink removes it
	// and returns its key, or an error that matches [feedmill.ErrNotFound].
	AddSignInLink(ctx context.Context, hash feedmill.KeyHash, key feedmill.ID, now, until time.Time) error
	UseSignInLink(ctx context.Context, hash feedmill.KeyHash, now time.Time) (feedmill.ID, error)
}

// signInAgain is the error detail for every session that has ended, for any reason.
const signInAgain = "The session has ended. Sign in again."

// AuthenticateSession returns the principal of a session token. It is cached like a key. A
// session that was started with a key ends with the key.
func (a *Authenticator) AuthenticateSession(ctx context.Context, token string) (feedmill.Principal, error) {
	hash, now := feedmill.HashKey(token), time.Now()
	if hit, ok := a.verified.get(hash, now); ok && hit.session != "" {
		a.noteUse(hit, now)
		return hit.principal, nil
	}
	epoch := a.verified.epoch()
	_, fresh, err := a.session(ctx, hash, now)
	if err != nil {
		return feedmill.Principal{}, err
	}
	a.noteUse(fresh, now)
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
	verified, err := a.sessionOwner(ctx, s, now)
	if err != nil {
		return s, entry{}, err
	}
	if s.Workspace != verified.principal.Workspace && !verified.principal.AllWorkspaces {
		return s, entry{}, refuse(signInAgain)
	}
	if s.Workspace != verified.principal.Workspace {
		w, err := a.store.WorkspaceByID(ctx, s.Workspace)
		if errors.Is(err, feedmill.ErrNotFound) || err == nil && w.Deleting != nil {
			return s, entry{}, refuse(signInAgain)
		}
		if err != nil {
			return s, entry{}, fmt.Errorf("look up workspace of session: %w", err)
		}
		verified.principal.Quotas = w.Quotas
	}
	verified.principal.Workspace, verified.session = s.Workspace, s.ID
	verified.expires = earlier(verified.expires, s.Ends())
	if former {
		verified.expires = earlier(verified.expires, s.RotatedAt.Add(feedmill.SessionGrace))
	}
	if now.Sub(s.SeenAt) >= feedmill.SessionTouch {
		if err := a.store.TouchSession(ctx, s.ID, storedTime(now)); err != nil {
			return s, entry{}, fmt.Errorf("note use of session: %w", err)
		}
		s.SeenAt = storedTime(now)
	}
	return s, verified, nil
}

// sessionOwner returns the principal that started a session, or an error if it is no longer
// valid.
func (a *Authenticator) sessionOwner(ctx context.Context, s feedmill.Session, now time.Time) (entry, error) {
	if s.Person.Subject != "" {
		return a.issuerUser(ctx, s.Person, now)
	}
	key, err := a.store.KeyByID(ctx, s.Key)
	if errors.Is(err, feedmill.ErrNotFound) {
		return entry{}, refuse(signInAgain)
	}
	if err != nil {
		return entry{}, fmt.Errorf("look up key of session: %w", err)
	}
	return a.verify(ctx, key, now)
}

// issuerUser returns the principal of a user who signed in at the issuer. It refuses all of
// them once the operator has removed the issuer or its client from the configuration.
func (a *Authenticator) issuerUser(ctx context.Context, p feedmill.SessionPerson, now time.Time) (entry, error) {
	if !a.SignsPeopleIn() || !strings.HasPrefix(p.Subject, a.issuer.url+"|") {
		return entry{}, refuse(signInAgain)
	}
	home, err := a.store.WorkspaceByID(ctx, p.Home)
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && home.Deleting != nil {
		return entry{}, refuse(signInAgain)
	}
	if err != nil {
		return entry{}, fmt.Errorf("look up workspace of session: %w", err)
	}
	principal := feedmill.Principal{Workspace: home.ID, Subject: p.Subject, Name: p.Name, Scopes: p.Scopes, Quotas: home.Quotas}
	principal.AllWorkspaces = isOperator(principal, home)
	return entry{principal: principal, expires: now.Add(a.ttl)}, nil
}

// isOperator reports whether a principal is an admin of the default workspace, who has
// access to all workspaces.
func isOperator(p feedmill.Principal, home feedmill.Workspace) bool {
	return p.Has(feedmill.ScopeAdmin) && home.Name == feedmill.DefaultWorkspace
}

// noteUse records the use of a workspace, and of a key if the credential has one.
func (a *Authenticator) noteUse(e entry, at time.Time) {
	a.used.note(e.principal.Workspace, at)
	if e.key != "" {
		a.used.note(e.key, at)
	}
}

// storedTime truncates a time to the precision of records.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// BeginSession starts a session for an API key, or for a user who returned from the issuer,
// and returns its token. A JWT of the issuer cannot start a session, which would outlast it.
func (a *Authenticator) BeginSession(ctx context.Context, who feedmill.Principal) (token string, s feedmill.Session, err error) {
	token = feedmill.NewSessionToken()
	at := storedTime(time.Now())
	s = feedmill.Session{
		ID: feedmill.NewID(feedmill.PrefixSession), Workspace: who.Workspace,
		Token: feedmill.HashKey(token), CreatedAt: at, RotatedAt: at, SeenAt: at,
	}
	switch actor := who.Actor(); {
	case actor.Key != "":
		s.Key = actor.Key
	case who.SignedIn:
		s.Person = feedmill.SessionPerson{Subject: who.Subject, Name: who.Name, Scopes: who.Scopes, Home: who.Workspace}
	default:
		return "", s, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "Only an API key can sign in here."}
	}
	if err := a.store.CreateSession(ctx, s); err != nil {
		return "", s, err
	}
	return token, s, nil
}

// RenewSession returns a session. If its token is due for rotation, RenewSession replaces it
// and returns the new one.
func (a *Authenticator) RenewSession(ctx context.Context, token string) (renewed string, s feedmill.Session, err error) {
	hash, now := feedmill.HashKey(token), time.Now()
	s, _, err = a.session(ctx, hash, now)
	if err != nil || !s.Token.Equal(hash) || now.Sub(s.RotatedAt) < feedmill.SessionRotation {
		return "", s, err
	}
	renewed = feedmill.NewSessionToken()
	rotated, err := a.store.RotateSession(ctx, s.ID, hash, feedmill.HashKey(renewed), storedTime(now))
	if err != nil || !rotated {
		return "", s, err
	}
	a.verified.forget(s.ID)
	return renewed, s, nil
}

// MoveSession moves the session of a token to another workspace. The caller checks whether
// that is allowed.
func (a *Authenticator) MoveSession(ctx context.Context, token string, workspace feedmill.ID) error {
	s, _, err := a.session(ctx, feedmill.HashKey(token), time.Now())
	if err != nil {
		return err
	}
	defer a.verified.forget(s.ID)
	return a.store.MoveSession(ctx, s.ID, workspace)
}

// EndSession ends the session of a token.
func (a *Authenticator) EndSession(ctx context.Context, token string) error {
	s, err := a.store.SessionByToken(ctx, feedmill.HashKey(token))
	if err != nil {
		return err
	}
	defer a.verified.forget(s.ID)
	return a.store.DeleteSession(ctx, s.ID)
}
