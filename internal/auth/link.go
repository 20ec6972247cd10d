package auth

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// linkAge is how long a link that signs in is good.
const linkAge = time.Hour

// links are those that sign in once. They are in memory alone: whoever printed
// one has printed its key as well.
type links struct {
	mu   sync.Mutex
	open map[feedmill.KeyHash]link
}

type link struct {
	key     feedmill.ID
	expires time.Time
}

// NewLink makes the secret text of a link that signs in with a key, once.
func (a *Authenticator) NewLink(key feedmill.ID) string {
	text := feedmill.NewSessionToken()
	a.links.mu.Lock()
	defer a.links.mu.Unlock()
	if a.links.open == nil {
		a.links.open = make(map[feedmill.KeyHash]link)
	}
	a.links.open[feedmill.HashKey(text)] = link{key, time.Now().Add(linkAge)}
	return text
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
	key, err := a.store.KeyByID(ctx, found.key)
	if err != nil {
		return feedmill.Principal{}, err
	}
	verified, err := a.verify(ctx, key, now)
	return verified.principal, err
}
