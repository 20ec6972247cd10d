package subscribe

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// brokenOnce is a store that fails to write once, after it has written some.
type brokenOnce struct {
	*sqlite.DB
	writes int
}

var errBroken = errors.New("broken")

func (s *brokenOnce) ReplaceURLs(ctx context.Context, changes []feedmill.URLChange) error {
	if s.writes++; s.writes == 2 {
		return errBroken
	}
	return s.DB.ReplaceURLs(ctx, changes)
}

// What a release has stored before URLs were sealed is sealed in the end, whatever
// goes wrong meanwhile, and is read as it was.
func TestStoredURLsAreSealed(t *testing.T) {
	w := newWorld(t)
	store := &brokenOnce{DB: w.db}
	const n = 2*sealStep + 3
	plain := make(map[feedmill.ID]string)
	subs := make([]feedmill.Subscription, n)
	for i := range subs {
		id := feedmill.NewID(feedmill.PrefixSubscription)
		subs[i] = feedmill.Subscription{
			ID: id, Workspace: w.workspace, Events: []string{"tag.*"},
			Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com/" + string(id), Method: "POST"},
			State:       feedmill.SubscriptionActive, CreatedAt: now(), UpdatedAt: now(),
		}
		plain[id] = subs[i].Destination.URL
	}
	urls := SealedURLs{Store: w.db, Vault: w.Vault}
	// One was made since, one is a listener, which has no URL, and one is deleted.
	must(t, urls.CreateSubscriptions(t.Context(), subs[:1], 0, nil))
	subs[1].Destination.URL, plain[subs[1].ID] = "", ""
	must(t, w.db.CreateSubscriptions(t.Context(), subs[1:], 0, nil))
	must(t, w.db.DeleteSubscription(t.Context(), w.workspace, subs[2].ID, now()))

	sealer := NewSealer(store, w.Vault)
	failed := 0
	for more := true; more; {
		var err error
		if more, err = sealer.Step(t.Context()); err != nil {
			if !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			failed++
			more = true
		}
	}
	if failed != 1 || store.writes != 4 {
		t.Errorf("%d of %d writes failed", failed, store.writes)
	}
	check := func() (stored map[feedmill.ID]string) {
		t.Helper()
		stored = make(map[feedmill.ID]string)
		all, err := w.db.StoredSubscriptions(t.Context(), "", n+1)
		must(t, err)
		for _, sub := range all {
			stored[sub.ID] = sub.Destination.URL
			opened, err := urls.SubscriptionForDelivery(t.Context(), sub.ID)
			must(t, err)
			together, err := urls.SubscriptionsForDelivery(t.Context(), []feedmill.ID{sub.ID})
			must(t, err)
			if len(together) != 1 || together[0].Destination.URL != opened.Destination.URL {
				t.Errorf("%s is read as %+v among others", sub.ID, together)
			}
			if sealed := strings.HasPrefix(sub.Destination.URL, urlSeal); sealed != (sub.ID != subs[1].ID) || opened.Destination.URL != plain[sub.ID] {
				t.Errorf("%s is stored as %q and read as %q", sub.ID, sub.Destination.URL, opened.Destination.URL)
			}
		}
		return stored
	}
	before := check()
	// The next process finds nothing to do.
	again := NewSealer(store, w.Vault)
	for more := true; more; {
		var err error
		if more, err = again.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if store.writes != 4 {
		t.Error("what is sealed is written again")
	}
	for id, url := range check() {
		if url != before[id] {
			t.Errorf("%s is sealed again", id)
		}
	}
}
