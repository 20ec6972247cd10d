package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// bench is a dispatcher on a real store, whose endpoints and whose faults a test
// decides.
type bench struct {
	*testing.T
	store      *troubledStore
	dispatcher *Dispatcher
	ws         feedmill.ID
	stop       context.CancelFunc
	done       chan struct{}

	mu   sync.Mutex
	sent []time.Time
}

// troubledStore is the real store with the trouble that a test orders.
type troubledStore struct {
	*sqlite.DB
	noSlots, leaseHangs, settleAway, settleRefuses atomic.Bool
	released, reads, targets                       atomic.Int64
	readTakes                                      time.Duration
}

func (s *troubledStore) LeaseSlots(ctx context.Context, replica string, ttl time.Duration) ([]int, error) {
	switch {
	case s.leaseHangs.Load():
		<-ctx.Done()
		return nil, ctx.Err()
	case s.noSlots.Load():
		return nil, nil
	}
	return s.DB.LeaseSlots(ctx, replica, ttl)
}

func (s *troubledStore) ReleaseSlots(_ context.Context, _ string, slots []int) error {
	s.released.Add(int64(len(slots)))
	return nil
}

func (s *troubledStore) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	s.reads.Add(1)
	defer time.Sleep(s.readTakes)
	return s.DB.Due(ctx, q)
}

func (s *troubledStore) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	s.targets.Add(1)
	return s.DB.SubscriptionForDelivery(ctx, id)
}

func (s *troubledStore) Settle(ctx context.Context, o []feedmill.Outcome, maxAttempts int) ([]feedmill.DueDelivery, error) {
	switch {
	case s.settleAway.Load():
		return nil, feedmill.ErrUnavailable
	case s.settleRefuses.Load():
		return nil, errors.New("this cannot be written")
	}
	return s.DB.Settle(ctx, o, maxAttempts)
}

type endpoint func(context.Context, Target, Message) Result

func (f endpoint) Send(ctx context.Context, t Target, m Message) Result { return f(ctx, t, m) }

// slow is an endpoint that takes its time and answers 200.
func slow(d time.Duration) endpoint {
	return func(context.Context, Target, Message) Result {
		time.Sleep(d)
		return Result{Status: 200}
	}
}

// onBench runs a test on a bench in simulated time.
func onBench(t *testing.T, o Options, to endpoint, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"))
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{T: t, store: &troubledStore{DB: db}, ws: feedmill.NewID(feedmill.PrefixWorkspace), done: make(chan struct{})}
		b.must(db.CreateWorkspace(t.Context(), feedmill.Workspace{ID: b.ws, Name: "w", CreatedAt: time.Now()}, nil))
		o.Store, o.Vault, o.Log, o.Metrics, o.Replica = b.store, plainVault{}, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), "one"
		o.Sender = endpoint(func(ctx context.Context, t Target, m Message) Result {
			b.mu.Lock()
			b.sent = append(b.sent, time.Now())
			b.mu.Unlock()
			return to(ctx, t, m)
		})
		b.dispatcher = New(o)
		ctx, cancel := context.WithCancel(context.Background())
		b.stop = cancel
		go func() {
			defer close(b.done)
			b.dispatcher.Run(ctx)
		}()
		synctest.Wait()
		test(b)
		cancel()
		<-b.done
		b.must(db.Close())
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) subscribe(settings feedmill.DeliverySettings) feedmill.ID {
	b.Helper()
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
	b.must(err)
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: b.ws, URL: "https://example.com", Method: "POST", Events: []string{"metric.*"},
		State: feedmill.SubscriptionActive, Secrets: secrets, CreatedAt: time.Now(), UpdatedAt: time.Now(), Delivery: settings,
	}
	b.must(b.store.CreateSubscriptions(b.Context(), []feedmill.Subscription{s}, nil))
	return s.ID
}

// accept accepts n events, of one resource where it is named, else of n.
func (b *bench) accept(n int, resource string) []feedmill.DueDelivery {
	b.Helper()
	events := make([]feedmill.Event, n)
	for i := range events {
		events[i] = feedmill.Event{
			ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: b.ws, Type: "metric.created", Timestamp: time.Now(),
			ResourceID: resource, Payload: []byte(`{}`),
		}
		if resource == "" {
			events[i].ResourceID = fmt.Sprint("r", i)
		}
	}
	_, due, err := b.store.Accept(b.Context(), events, 10, nil)
	b.must(err)
	return due
}

func (b *bench) sentSince(at time.Time) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sent {
		if s.After(at) {
			n++
		}
	}
	return n
}

func TestNothingIsSentForASlotThatWasLost(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		onBench(t, Options{}, slow(700*time.Millisecond), func(b *bench) {
			sub := b.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 4})
			b.dispatcher.Offer(b.accept(400, "r1"))
			time.Sleep(3 * time.Second)
			b.store.noSlots.Store(true)
			time.Sleep(leaseEvery + 2*time.Second)
			lost := time.Now()
			b.dispatcher.Changed(sub)
			time.Sleep(time.Minute)
			if n := b.sentSince(lost); n > 0 {
				b.Errorf("ordered %v: %d attempts were begun for a slot that another replica has", ordered, n)
			}
			if b.store.released.Load() == 0 {
				b.Errorf("ordered %v: the slot was not given back", ordered)
			}
		})
	}
}

func TestALeaseThatCannotBeRenewedIsTakenForLost(t *testing.T) {
	onBench(t, Options{}, slow(100*time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		b.store.leaseHangs.Store(true)
		b.dispatcher.Offer(b.accept(1000, ""))
		time.Sleep(leaseTime)
		lost := time.Now()
		time.Sleep(time.Minute)
		if n := b.sentSince(lost); n > 0 {
			b.Errorf("%d attempts were begun after the lease had run out", n)
		}
	})
}

func TestAnOutcomeThatCannotBeWrittenIsNotSentOverAndOver(t *testing.T) {
	onBench(t, Options{}, slow(20*time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{})
		b.store.settleRefuses.Store(true)
		b.dispatcher.Offer(b.accept(1, ""))
		time.Sleep(10 * time.Minute)
		if n := b.sentSince(time.Time{}); n < 2 || n > 11 {
			b.Errorf("it was sent %d times in ten minutes, want about one a minute", n)
		}
	})
}

func TestARefusedOutcomeIsForgottenByItselfAlone(t *testing.T) {
	onBench(t, Options{}, slow(20*time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		b.store.settleRefuses.Store(true)
		b.dispatcher.Offer(b.accept(1, ""))
		time.Sleep(time.Second)
		b.store.settleRefuses.Store(false)
		b.dispatcher.Offer(b.accept(20, "")) // their outcomes follow in the same buffer
		time.Sleep(10 * time.Minute)
		if n := b.sentSince(time.Time{}); n != 22 {
			b.Errorf("%d attempts were made, want one for each of 21 deliveries and one more for the refused", n)
		}
		if open, _, err := b.store.OpenWork(b.Context(), time.Now()); err != nil || open != 0 {
			b.Errorf("%d deliveries are still open, %v", open, err)
		}
	})
}

func TestShutdownDoesNotWaitForAStoreThatIsAway(t *testing.T) {
	onBench(t, Options{}, slow(time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{Concurrency: 100})
		b.store.settleAway.Store(true)
		b.dispatcher.Offer(b.accept(4000, ""))
		time.Sleep(time.Minute)
		stopped := time.Now()
		b.stop()
		<-b.done
		if took := time.Since(stopped); took > grace+2*lastWrites {
			b.Errorf("the shutdown took %s", took)
		}
	})
}

func TestAResumeElsewhereIsNoticed(t *testing.T) {
	onBench(t, Options{}, slow(time.Millisecond), func(b *bench) {
		sub := b.subscribe(feedmill.DeliverySettings{})
		set := func(state feedmill.SubscriptionState) {
			_, err := b.store.ChangeSubscription(b.Context(), b.ws, sub, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				s.State = state
				return nil, nil
			})
			b.must(err)
		}
		set(feedmill.SubscriptionPaused)
		b.dispatcher.Offer(b.accept(1, ""))
		time.Sleep(time.Minute)
		if b.sentSince(time.Time{}) != 0 {
			b.Error("a paused subscription was sent to")
		}
		set(feedmill.SubscriptionActive) // by another replica: nobody tells this one
		time.Sleep(2 * heldAge)
		if b.sentSince(time.Time{}) != 1 {
			b.Error("the subscription is still held")
		}
	})
}

func TestWhatWaitsForARetryIsHeldAsPending(t *testing.T) {
	failing := endpoint(func(context.Context, Target, Message) Result { return Result{Status: 500, Error: "500"} })
	onBench(t, Options{}, failing, func(b *bench) {
		sub := b.subscribe(feedmill.DeliverySettings{})
		due := b.accept(1, "")
		b.dispatcher.Offer(due)
		time.Sleep(time.Second)
		for _, step := range []struct {
			set  feedmill.SubscriptionState
			want feedmill.DeliveryState
		}{{feedmill.SubscriptionActive, feedmill.DeliveryRetrying}, {feedmill.SubscriptionPaused, feedmill.DeliveryPending}} {
			_, err := b.store.ChangeSubscription(b.Context(), b.ws, sub, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				s.State = step.set
				return nil, nil
			})
			b.must(err)
			b.dispatcher.Changed(sub)
			time.Sleep(time.Second)
			d, err := b.store.Delivery(b.Context(), b.ws, due[0].ID)
			b.must(err)
			if d.State != step.want || d.Attempts != 1 {
				b.Errorf("the delivery of a subscription that is %s is %+v", step.set, d)
			}
		}
	})
}

func TestALateOfferSendsNothingTwice(t *testing.T) {
	onBench(t, Options{}, slow(time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{})
		due := b.accept(3, "")
		time.Sleep(time.Minute) // the store was read, and everything is settled
		b.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if n := b.sentSince(time.Time{}); n != 3 {
			b.Errorf("3 deliveries were sent %d times", n)
		}
	})
}

// Offers of events that were accepted at once come in any order, and while a
// lane reads the store. None of them waits until the store is looked through.
func TestOffersInAnyOrderWaitForNoPoll(t *testing.T) {
	for name, offer := range map[string]func(*bench){
		"the last first": func(b *bench) {
			first, second, third := b.accept(40, ""), b.accept(40, ""), b.accept(40, "")
			b.dispatcher.Offer(third)
			b.dispatcher.Offer(second)
			b.dispatcher.Offer(first)
		},
		"during a read": func(b *bench) {
			b.store.readTakes = 10 * time.Millisecond
			b.dispatcher.Offer(b.accept(80, ""))
			for range 40 {
				b.dispatcher.Offer(b.accept(1, ""))
				time.Sleep(3 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBench(t, Options{MaxLane: 50, PollEvery: time.Hour}, slow(time.Millisecond), func(b *bench) {
				b.subscribe(feedmill.DeliverySettings{Concurrency: 4})
				offer(b)
				time.Sleep(time.Minute)
				if n := b.sentSince(time.Time{}); n != 120 {
					b.Errorf("%d attempts were made within a minute, want one for each of 120 deliveries", n)
				}
			})
		})
	}
}

func TestWhatIsNotSentDoesNotOpenTheBreaker(t *testing.T) {
	refused := endpoint(func(_ context.Context, _ Target, m Message) Result {
		if m.Attempt == 1 && len(m.Payload) == 2 {
			return Result{Error: "too long", Final: true, NotSent: true}
		}
		return Result{Status: 200}
	})
	onBench(t, Options{}, refused, func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		b.dispatcher.Offer(b.accept(40, ""))
		time.Sleep(2 * time.Second)
		if n := b.sentSince(time.Time{}); n != 40 {
			b.Errorf("%d of 40 were tried", n)
		}
	})
}

func TestAFullMemoryDoesNotMakeLanesReadOneByOne(t *testing.T) {
	onBench(t, Options{MaxQueued: 10}, slow(time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Hour})
		b.subscribe(feedmill.DeliverySettings{Concurrency: 4})
		b.dispatcher.Offer(b.accept(2000, ""))
		time.Sleep(time.Minute)
		if n := b.sentSince(time.Time{}); n < 2001 {
			b.Errorf("%d of 2001 were sent", n)
		}
		if n := b.store.reads.Load(); n > 300 {
			b.Errorf("the store was read %d times for 2000 deliveries", n)
		}
	})
}

func TestWhatIsOfferedIsNotReadAgain(t *testing.T) {
	onBench(t, Options{TargetAge: time.Hour}, slow(10*time.Millisecond), func(b *bench) {
		sub := b.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		b.dispatcher.Offer(b.accept(450, ""))
		time.Sleep(4 * time.Second) // polls call them due all the while
		if n := b.sentSince(time.Time{}); n < 300 || n > 449 {
			b.Fatalf("%d were sent within 4 s, want some to wait still", n)
		}
		if reads, targets := b.store.reads.Load(), b.store.targets.Load(); reads != 0 || targets != 1 {
			b.Errorf("the store was read %d times for deliveries and %d times for the subscription, want 0 and 1", reads, targets)
		}
		stored, err := b.store.Subscription(b.Context(), b.ws, sub)
		b.must(err)
		if stored.LastSuccessAt.IsZero() {
			b.Error("the success is not in the store")
		}
		time.Sleep(time.Minute)
		if n := b.sentSince(time.Time{}); n != 450 {
			b.Errorf("%d of 450 were sent", n)
		}
	})
}

func TestABacklogIsReadBesideOffers(t *testing.T) {
	onBench(t, Options{}, slow(10*time.Millisecond), func(b *bench) {
		b.store.noSlots.Store(true)
		b.dispatcher.own(nil)
		b.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		b.accept(1, "")
		fresh := b.accept(450, "")
		b.store.noSlots.Store(false)
		b.dispatcher.lease(b.Context())
		b.dispatcher.Offer(fresh) // before the slots are looked through
		time.Sleep(3 * time.Second)
		if b.store.reads.Load() == 0 {
			b.Error("what the store held of a slot just taken waits behind what is offered")
		}
	})
}

func TestRateLimit(t *testing.T) {
	onBench(t, Options{}, slow(time.Millisecond), func(b *bench) {
		b.subscribe(feedmill.DeliverySettings{RateLimit: 10, RatePer: time.Second})
		b.dispatcher.Offer(b.accept(100, ""))
		time.Sleep(5*time.Second + 50*time.Millisecond)
		if n := b.sentSince(time.Time{}); n < 48 || n > 51 {
			b.Errorf("%d were sent in 5 s at 10 a second", n)
		}
	})
}
