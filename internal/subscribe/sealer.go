package subscribe

import (
	"context"
	"strings"

	"github.com/feedmill/feedmill"
)

// StoredURLs is a store whose URLs of subscriptions are looked at as they stand
// there, of all workspaces, deleted subscriptions too.
type StoredURLs interface {
	StoredSubscriptions(ctx context.Context, after feedmill.ID, limit int) ([]feedmill.Subscription, error)
	ReplaceURLs(ctx context.Context, changes []feedmill.URLChange) error
}

// sealStep is how many subscriptions are looked at in one go, and written in one
// transaction.
const sealStep = 200

// Sealer seals the URLs that a release stored before they were sealed. It passes
// over the subscriptions once, a step at a time; what it does not come to, the next
// process finds.
type Sealer struct {
	store   StoredURLs
	urls    SealedURLs
	reached feedmill.ID
	done    bool
}

// NewSealer makes a sealer.
func NewSealer(store StoredURLs, vault Vault) *Sealer {
	return &Sealer{store: store, urls: SealedURLs{Vault: vault}}
}

// Step seals some and reports whether there may be more. One that fails is taken
// again. What somebody changes meanwhile is sealed by that, and left alone.
func (s *Sealer) Step(ctx context.Context) (more bool, err error) {
	if s.done {
		return false, nil
	}
	subs, err := s.store.StoredSubscriptions(ctx, s.reached, sealStep)
	if err != nil {
		return false, err
	}
	var changes []feedmill.URLChange
	for _, sub := range subs {
		if sub.Destination.URL == "" || strings.HasPrefix(sub.Destination.URL, urlSeal) {
			continue
		}
		sealed, err := s.urls.seal(sub)
		if err != nil {
			return false, err
		}
		changes = append(changes, feedmill.URLChange{Subscription: sub.ID, From: sub.Destination.URL, To: sealed.Destination.URL})
	}
	if len(changes) > 0 {
		if err := s.store.ReplaceURLs(ctx, changes); err != nil {
			return false, err
		}
	}
	if len(subs) < sealStep {
		s.done = true
		return false, nil
	}
	s.reached = subs[len(subs)-1].ID
	return true, nil
}
