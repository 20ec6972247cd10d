package auth

import (
	"context"
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

// links are one-time sign-in links. They are only in memory: a restart invalidates them, and
// the key that was printed with a link still works.
type links struct {
	mu   sync.Mutex
	open map[feedmill.KeyHash]link
}

// link signs in with a key or, if key is empty, as who.
type link struct {
	key     feedmill.ID
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

// NewLink returns the secret of a link that signs in with a key, once.
func (a *Authenticator) NewLink(key feedmill.ID) string {
	return a.links.add(link{key: key, expires: time.Now().Add(linkAge)})
}

// AuthenticateLink returns the principal of a link and invalidates the link.
func (a *Authenticator) AuthenticateLink(ctx context.Context, text string) (feedmill.Principal, error) {
	a.links.mu.Lock()
	hash := feedmill.HashKey(text)
	found, ok := a.links.open[hash]
	delete(a.links.open, hash)
	a.links.mu.Unlock()
	now := time.Now()
	if !ok || now.After(found.expires) {
		return feedmill.Principal{}, refuse("The link was already used or has expired. Sign in with an API key.")
	}
	if found.key == "" {
		return found.who, nil
	}
	key, err := a.store.KeyByID(ctx, found.key)
	if err != nil {
		return feedmill.Principal{}, err
	}
	verified, err := a.verify(ctx, key, now)
	return verified.principal, err
}
