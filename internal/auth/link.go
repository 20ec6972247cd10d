package auth

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// How long links that sign in are good: one that was printed, and one that this process
// itself follows at once for a person who has come back from the issuer.
const (
	linkAge       = time.Hour
	personLinkAge = time.Minute
)

// links are those that sign in once. They are in memory alone: whoever printed
// one has printed its key as well.
type links struct {
	mu   sync.Mutex
	open map[feedmill.KeyHash]link
}

// link signs in with a key, or a person where there is none.
type link struct {
	key     feedmill.ID
	who     feedmill.Principal
	expires time.Time
}

// add keeps a link and returns its secret text.
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

// NewLink makes the secret text of a link that signs in with a key, once.
func (a *Authenticator) NewLink(key feedmill.ID) string {
	return a.links.add(link{key: key, expires: time.Now().Add(linkAge)})
}

// AuthenticateLink returns who a link stands for, and uses it up.
func (a *Authenticator) AuthenticateLink(ctx context.Context, text string) (feedmill.Principal, error) {
	a.links.mu.Lock()
	hash := feedmill.HashKey(text)
	found, ok := a.links.open[hash]
	delete(a.links.open, hash)
	a.links.mu.Unlock()
	now := time.Now()
	if !ok || now.After(found.expires) {
		return feedmill.Principal{}, refuse("This link was used already, or is too old. Sign in with an API key.")
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
