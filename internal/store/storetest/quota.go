package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// wantLeft holds that a workspace with a quota may have so many more of what is
// like one subscription. It adds none.
func wantLeft(t *testing.T, s Store, like feedmill.Subscription, most, left int) {
	t.Helper()
	tooMany := make([]feedmill.Subscription, left+1)
	for i := range tooMany {
		tooMany[i] = like
		tooMany[i].ID = feedmill.NewID(feedmill.PrefixSubscription)
	}
	err := s.CreateSubscriptions(t.Context(), tooMany, most, nil)
	if quota, ok := errors.AsType[*feedmill.QuotaError](err); !ok || quota.Left != left {
		t.Errorf("of %d there may be %v more, want %d", most, err, left)
	}
}

var quotaCases = []testCase{
	{name: "a workspace has no more than its quota", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		subscribe(t, s, other.ID, "metric.*")
		one, two, three := newSubscription(w.ID, "metric.*"), newSubscription(w.ID, "metric.*"), newSubscription(w.ID, "metric.*")
		wantLeft(t, s, one, 2, 2)
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{one}, 2, nil))
		wantLeft(t, s, one, 2, 1)

		response := newOnce(w.ID, "k")
		if _, ok := errors.AsType[*feedmill.QuotaError](s.CreateSubscriptions(ctx, []feedmill.Subscription{two, three}, 2, &response)); !ok {
			t.Error("two are taken where there is room for one")
		}
		_, err := s.Subscription(ctx, w.ID, two.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.KeptResponse(ctx, w.ID, owner, "k", now())
		want(t, err, feedmill.ErrNotFound)

		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{two}, 2, nil))
		wantLeft(t, s, one, 2, 0)
		wantLeft(t, s, one, 1, 0)
		must(t, s.DeleteSubscription(ctx, w.ID, one.ID, now()))
		wantLeft(t, s, one, 2, 1)
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{three}, 0, nil))
	}},
	{name: "a quota of the workspace replaces that of the server", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		for _, c := range []struct {
			own  *int
			most int
			fits int
		}{{new(2), 1, 2}, {new(3), 0, 1}, {nil, 4, 1}, {new(0), 9, 0}} {
			_, err := s.ChangeWorkspace(ctx, w.ID, func(w *feedmill.Workspace) error { w.Quotas.Subscriptions = c.own; return nil })
			must(t, err)
			for range c.fits {
				must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{newSubscription(w.ID, "metric.*")}, c.most, nil))
			}
			err = s.CreateSubscriptions(ctx, []feedmill.Subscription{newSubscription(w.ID, "metric.*")}, c.most, nil)
			if _, ok := errors.AsType[*feedmill.QuotaError](err); !ok {
				t.Errorf("%+v: one more is created: %v", c, err)
			}
		}
	}},
	{name: "listeners have a quota of their own", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		sub, listener := subscribe(t, s, w.ID, "metric.*"), listen(t, s, w.ID, now().Add(time.Minute), "metric.*")
		listen(t, s, w.ID, now().Add(time.Minute), "metric.*")
		wantLeft(t, s, sub, 3, 2)
		wantLeft(t, s, listener, 3, 1)
		must(t, s.DeleteListener(t.Context(), w.ID, listener.ID, now()))
		wantLeft(t, s, listener, 3, 2)
	}},
	{name: "many at once do not pass it", run: func(t *testing.T, open func(*testing.T) Store) { passQuota(t, open(t)) }},
	{name: "two replicas do not pass it", shared: true, run: func(t *testing.T, open func(*testing.T) Store) { passQuota(t, open(t), open(t)) }},
}

// passQuota tries to add more than the quota, through all handles at once, by
// ones and twos.
func passQuota(t *testing.T, handles ...Store) {
	const most, workers = 7, 8
	w := newWorkspace(t, handles[0])
	var made atomic.Int64
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range workers {
		s := handles[i%len(handles)]
		group.Go(func() {
			<-start
			for range 3 {
				subs := []feedmill.Subscription{newSubscription(w.ID, "metric.*"), newSubscription(w.ID, "tag.*")}[:1+i/2%2]
				err := s.CreateSubscriptions(t.Context(), subs, most, nil)
				if _, full := errors.AsType[*feedmill.QuotaError](err); err != nil && !full {
					t.Error(err)
				}
				if err == nil {
					made.Add(int64(len(subs)))
				}
			}
		})
	}
	close(start)
	group.Wait()
	listed, err := handles[0].Subscriptions(t.Context(), w.ID, feedmill.Page{Limit: 100})
	must(t, err)
	if n := made.Load(); int(n) != len(listed) || n != most {
		t.Errorf("%d are made and %d are there, want %d", n, len(listed), most)
	}
}
