package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// scene is a hub on a real store with one listener, in simulated time.
type scene struct {
	*testing.T
	store *awayStore
	hub   *Hub
	sub   feedmill.Subscription
}

// awayStore is the real store, which a test can make unreachable.
type awayStore struct {
	*sqlite.DB
	away    atomic.Bool
	reads   atomic.Int64
	extends atomic.Int64
}

func (s *awayStore) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	s.reads.Add(1)
	if s.away.Load() {
		return nil, feedmill.ErrUnavailable
	}
	return s.DB.Due(ctx, q)
}

func (s *awayStore) ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error {
	s.extends.Add(1)
	return s.DB.ExtendListener(ctx, id, until)
}

func onScene(t *testing.T, test func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := &scene{T: t, store: &awayStore{DB: db}}
		s.hub = New(Options{Store: s.store, Log: slog.New(slog.DiscardHandler), Headers: attemptHeaders, Sample: sample})
		w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: time.Now()}
		s.must(db.CreateWorkspace(t.Context(), w, nil))
		now := time.Now().UTC()
		s.sub = feedmill.Subscription{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Destination: feedmill.Destination{Kind: feedmill.DestinationListener, Method: "POST"}, Events: []string{"metric.*"},
			State: feedmill.SubscriptionActive, CreatedAt: now, UpdatedAt: now, ListenUntil: feedmill.ListenerEnd(now, now),
		}
		s.must(db.CreateSubscriptions(t.Context(), []feedmill.Subscription{s.sub}, 0, nil))
		test(s)
		synctest.Wait()
		s.must(db.Close())
	})
}

// sample is a delivery that is not in the store.
func sample(sub feedmill.Subscription, e feedmill.NewEvent) (feedmill.DueDelivery, error) {
	return feedmill.DueDelivery{Delivery: feedmill.Delivery{ID: feedmill.NewID(feedmill.PrefixDelivery), Subscription: sub.ID, Type: e.Type}}, nil
}

// A test event goes to the connection of its listener, and is sent once.
func TestEventsThatAreNotPublished(t *testing.T) {
	onScene(t, func(s *scene) {
		if sent, err := s.hub.Test(s.sub, feedmill.NewEvent{Type: "metric.created"}); sent || err != nil {
			t.Errorf("without a connection: %v, %v", sent, err)
		}
		ctx, cancel := context.WithCancel(s.Context())
		var got []feedmill.ListenerMessage
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.hub.Stream(ctx, s.sub, func(m feedmill.ListenerMessage) error {
				if m.Delivery != nil {
					got = append(got, m)
				}
				return nil
			})
		}()
		synctest.Wait()
		other := s.sub
		other.ID = feedmill.NewID(feedmill.PrefixSubscription)
		for _, sub := range []feedmill.Subscription{s.sub, other} {
			if sent, err := s.hub.Test(sub, feedmill.NewEvent{Type: "metric.created"}); sent != (sub.ID == s.sub.ID) || err != nil {
				t.Errorf("%v, %v", sent, err)
			}
		}
		time.Sleep(5 * recheckEvery)
		cancel()
		<-done
		if len(got) != 1 || !got[0].Test || got[0].Headers["test"] != "true" {
			t.Errorf("received %+v", got)
		}
	})
}

// attemptHeaders has the one header that shows who made it.
func attemptHeaders(_ context.Context, sub feedmill.Subscription) (func(feedmill.DueDelivery, time.Time, bool) map[string]string, error) {
	return func(d feedmill.DueDelivery, _ time.Time, test bool) map[string]string {
		if test {
			return map[string]string{"test": "true"}
		}
		return map[string]string{"of": fmt.Sprint(sub.ID, d.Attempts+1)}
	}, nil
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// accept accepts n events and notifies the hub if tell is set.
func (s *scene) accept(n int, tell bool) (ids []feedmill.ID) {
	s.Helper()
	for range n {
		e := feedmill.Event{
			ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: s.sub.Workspace, Type: "metric.created", Timestamp: time.Now(), Payload: []byte(`{}`),
		}
		_, due, err := s.store.Accept(s.Context(), []feedmill.Event{e}, nil)
		s.must(err)
		for _, d := range due {
			ids = append(ids, d.ID)
		}
		if tell {
			s.hub.Offer(due)
		}
	}
	return ids
}

// answer settles deliveries as the API does, and notifies the hub if tell is set.
func (s *scene) answer(tell bool, ids ...feedmill.ID) {
	s.Helper()
	var outcomes []feedmill.Outcome
	for _, id := range ids {
		outcomes = append(outcomes, feedmill.Outcome{
			Workspace: s.sub.Workspace, Subscription: s.sub.ID, Delivery: id, State: feedmill.DeliveryDelivered, At: time.Now(),
		})
	}
	_, err := s.store.Settle(s.Context(), outcomes)
	s.must(err)
	if tell {
		s.hub.Answered(s.sub.ID, ids)
	}
}

// connection is an open stream and what came over it.
type connection struct {
	cut  context.CancelFunc
	mu   sync.Mutex
	got  []feedmill.ListenerMessage
	why  feedmill.ListenerEnded
	over bool
	// broken makes sending fail.
	broken atomic.Bool
}

func (s *scene) connect() *connection {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	c := &connection{cut: cancel}
	s.Cleanup(cancel)
	go func() {
		why := s.hub.Stream(ctx, s.sub, func(m feedmill.ListenerMessage) error {
			if c.broken.Load() {
				return errors.New("broken")
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.got = append(c.got, m)
			return nil
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.why, c.over = why, true
	}()
	synctest.Wait()
	return c
}

func (c *connection) deliveries() (ids []feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if m.Delivery != nil {
			ids = append(ids, m.Delivery.ID)
		}
	}
	return ids
}

func (c *connection) heartbeats() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if m.Delivery == nil {
			n++
		}
	}
	return n
}

func (c *connection) ended() (feedmill.ListenerEnded, bool) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why, c.over
}

func (s *scene) same(what string, got, want []feedmill.ID) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestStreamSends(t *testing.T) {
	onScene(t, func(s *scene) {
		before := s.accept(2, false)
		c := s.connect()
		if c.heartbeats() != 1 {
			t.Errorf("a connection begins with %d signs of life, want 1", c.heartbeats())
		}
		s.same("what was there before", c.deliveries(), before)
		if got := c.got[1].Headers["of"]; got != string(s.sub.ID)+"1" {
			t.Errorf("the headers are of %q", got)
		}
		at := time.Now()
		told := s.accept(1, true)
		synctest.Wait()
		s.same("what the hub is told of", c.deliveries(), append(before, told...))
		if time.Since(at) != 0 {
			t.Error("what the hub is told of had to wait")
		}
		untold := s.accept(1, false)
		time.Sleep(pollEvery)
		synctest.Wait()
		s.same("what another replica accepted", c.deliveries(), slices.Concat(before, told, untold))
		c.cut()
		if why, over := c.ended(); !over || why != feedmill.ListenerBroken {
			t.Errorf("a connection that was cut ended %v with %q", over, why)
		}
	})
}

func TestStreamSendsAgainWhatWasNotAnswered(t *testing.T) {
	onScene(t, func(s *scene) {
		first := s.connect()
		ids := s.accept(3, true)
		synctest.Wait()
		s.answer(true, ids[1])
		synctest.Wait()
		s.same("sent once", first.deliveries(), ids)
		second := s.connect()
		s.same("sent again", second.deliveries(), []feedmill.ID{ids[0], ids[2]})
		if why, over := first.ended(); !over || why != feedmill.ListenerReplaced {
			t.Errorf("the older connection ended %v with %q, want replaced", over, why)
		}
		s.same("sent over the older connection", first.deliveries(), ids)
		second.broken.Store(true)
		s.accept(1, true)
		if why, over := second.ended(); !over || why != feedmill.ListenerBroken {
			t.Errorf("a connection that cannot be written to ended %v with %q", over, why)
		}
	})
}

// A connection to another replica replaces the older one, which is sent nothing more.
func TestStreamIsReplacedOnAnotherReplica(t *testing.T) {
	onScene(t, func(s *scene) {
		older := s.connect()
		first := s.accept(1, true)
		synctest.Wait()
		s.hub = New(s.hub.Options)
		newer := s.connect()
		time.Sleep(pollEvery)
		if why, over := older.ended(); !over || why != feedmill.ListenerReplaced {
			t.Errorf("the older connection ended %v with %q, want replaced", over, why)
		}
		second := s.accept(1, true)
		time.Sleep(5 * time.Minute)
		if why, over := newer.ended(); over {
			t.Errorf("the newer connection ended with %q", why)
		}
		s.same("sent over the older connection", older.deliveries(), first)
		s.same("sent over the newer connection", newer.deliveries(), append(first, second...))
		newer.cut()
		newer.ended()
		if last, err := s.store.ListenerConnection(t.Context(), s.sub.ID); last != "" || err != nil {
			t.Errorf("afterwards the connection is %q, %v", last, err)
		}
	})
}

func TestStreamLimitsUnacknowledged(t *testing.T) {
	for _, here := range []bool{true, false} {
		t.Run(fmt.Sprint("answers come here ", here), func(t *testing.T) {
			onScene(t, func(s *scene) {
				const window = feedmill.MaxListenerWindow
				ids := s.accept(2*window+5, false)
				c := s.connect()
				time.Sleep(time.Minute)
				s.same("the first", c.deliveries(), ids[:window])
				s.answer(here, ids[0], ids[7])
				if !here {
					time.Sleep(recheckEvery + pollEvery)
				}
				synctest.Wait()
				s.same("two more", c.deliveries(), ids[:window+2])
				for range 3 {
					s.answer(here, c.deliveries()...)
					if !here {
						time.Sleep(recheckEvery + pollEvery)
					}
					synctest.Wait()
				}
				s.same("all, each once", c.deliveries(), ids)
				c.cut()
			})
		})
	}
}

func TestStreamExpires(t *testing.T) {
	onScene(t, func(s *scene) {
		const left = 20 * time.Minute // of its life
		s.sub.CreatedAt = s.sub.CreatedAt.Add(left - feedmill.ListenerLife)
		until := func() time.Time {
			got, err := s.store.Listener(t.Context(), s.sub.Workspace, s.sub.ID)
			s.must(err)
			return got.ListenUntil
		}
		c := s.connect()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if grace := time.Until(until()); grace > feedmill.ListenerGrace || grace < feedmill.ListenerGrace-feedmill.ListenerTouch {
			t.Errorf("a connected listener ends in %v, want in about %v", grace, feedmill.ListenerGrace)
		}
		if n := s.store.extends.Load(); n != 6 {
			t.Errorf("its end was written %d times in 5 minutes, want at once and once a minute", n)
		}
		if n := c.heartbeats(); n != 21 {
			t.Errorf("5 minutes have %d signs of life, want one at once and one every 15 s", n)
		}
		time.Sleep(left - 5*time.Minute - time.Second)
		if _, over := c.ended(); over {
			t.Error("the listener ended before its life was over")
		}
		if got, want := until(), s.sub.CreatedAt.Add(feedmill.ListenerLife); !got.Equal(want) {
			t.Errorf("it ends at %v, want at the end of its life, %v", got, want)
		}
		time.Sleep(2 * time.Second)
		if why, over := c.ended(); !over || why != feedmill.ListenerExpired {
			t.Errorf("after its life it ended %v with %q", over, why)
		}
	})
}

func TestStreamEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*scene)
		why  feedmill.ListenerEnded
	}{
		{"shutdown", func(s *scene) { s.hub.Close() }, feedmill.ListenerShutdown},
		{"deleted here", func(s *scene) { s.hub.Removed(s.sub.ID) }, feedmill.ListenerRemoved},
		{"deleted by another replica", func(s *scene) {
			s.must(s.store.DeleteListener(s.Context(), s.sub.Workspace, s.sub.ID, time.Now()))
			time.Sleep(pollEvery)
		}, feedmill.ListenerRemoved},
	} {
		t.Run(test.name, func(t *testing.T) {
			onScene(t, func(s *scene) {
				c := s.connect()
				test.do(s)
				if why, over := c.ended(); !over || why != test.why {
					t.Errorf("ended %v with %q, want %q", over, why, test.why)
				}
				if test.why != feedmill.ListenerShutdown {
					return
				}
				if why, over := s.connect().ended(); !over || why != test.why {
					t.Errorf("a connection after the shutdown ended %v with %q", over, why)
				}
			})
		})
	}
}

func TestStreamOutlivesTheStore(t *testing.T) {
	onScene(t, func(s *scene) {
		c := s.connect()
		s.store.away.Store(true)
		before := s.store.reads.Load()
		time.Sleep(time.Minute)
		if n := s.store.reads.Load() - before; n > 31 {
			t.Errorf("a store that is away is asked %d times a minute", n)
		}
		ids := s.accept(1, true)
		s.store.away.Store(false)
		time.Sleep(retryRead)
		synctest.Wait()
		s.same("sent when the store is back", c.deliveries(), ids)
		c.cut()
	})
}
