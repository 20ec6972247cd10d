package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// linkAge is the lifetime of a sign-in link that the server prints. issuerLinkAge is that of
// a link which this process follows itself for a user who returned from the issuer.
const (
	linkAge       = time.Hour
	issuerLinkAge = time.Minute
)

// links are one-time links that this process follows itself. They are only in memory.
type links struct {
	mu   sync.Mutex
	open map[feedmill.KeyHash]link
}

// link signs in as who.
type link struct {
	who     feedmill.Principal
	expires time.Time
}

// add stores a link and returns its secret.
func (l *links) add(one link) (text string) {
	text = feedmill.NewSessionToken()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(map[feedmill.KeyHash]link)
	}
	l.open[feedmill.HashKey(text)] = one
	return text
}

// use removes a link. It reports whether there was one.
func (l *links) use(hash feedmill.KeyHash) (found link, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok = l.open[hash]
	delete(l.open, hash)
	return found, ok
}

// NewLink returns the secret of a link that signs in with a key, once, on any replica.
func (a *Authenticator) NewLink(ctx context.Context, key feedmill.ID) (string, error) {
	text, now := feedmill.NewSessionToken(), time.Now()
	return text, a.store.AddSignInLink(ctx, feedmill.HashKey(text), key, now, now.Add(linkAge))
}

// errUsedLink is the error of a link that does not sign in.
var errUsedLink = refuse("The link was already used or has expired. Sign in with an API key.")

// AuthenticateLink returns the principal of a link and invalidates the link.
func (a *Authenticator) AuthenticateLink(ctx context.Context, text string) (feedmill.Principal, error) {
	hash, now := feedmill.HashKey(text), time.Now()
	if own, ok := a.links.use(hash); ok {
		if now.After(own.expires) {
			return feedmill.Principal{}, errUsedLink
		}
		return own.who, nil
	}
	id, err := a.store.UseSignInLink(ctx, hash, now)
	if errors.Is(err, feedmill.ErrNotFound) {
		return feedmill.Principal{}, errUsedLink
	}
	if err != nil {
		return feedmill.Principal{}, err
	}
	key, err := a.store.KeyByID(ctx, id)
	if err != nil {
		return feedmill.Principal{}, err
	}
	verified, err := a.verify(ctx, key, now)
	return verified.principal, err
}
