package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// writers is how many goroutines publish or settle at once.
const writers = 64

// newBenchStore is a store with a workspace and one subscription.
func newBenchStore(b *testing.B) (*DB, feedmill.Subscription) {
	b.Helper()
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "f.db"), feedmill.StoreOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	at := time.Now()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: at}
	if err := db.CreateWorkspace(b.Context(), w, nil); err != nil {
		b.Fatal(err)
	}
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.created"}, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, Method: "POST"},
		State: feedmill.SubscriptionActive, CreatedAt: at, UpdatedAt: at,
	}
	if err := db.CreateSubscriptions(b.Context(), []feedmill.Subscription{s}, 0, nil); err != nil {
		b.Fatal(err)
	}
	return db, s
}

func benchEvent(w feedmill.ID, n int64) feedmill.Event {
	return feedmill.Event{
		ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w, Type: "metric.created", Timestamp: time.Now(),
		ResourceID: fmt.Sprintf("m_%d", n%1000), PublisherID: fmt.Sprint(n), DedupeKey: fmt.Sprint(n),
		Payload: fmt.Appendf(nil, `{"id":"evt","type":"metric.created","data":{"n":%d,"filler":"%0300d"}}`, n, n),
	}
}

func benchOutcome(d feedmill.DueDelivery) feedmill.Outcome {
	at := time.Now()
	return feedmill.Outcome{
		Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, State: feedmill.DeliveryDelivered, At: at, Succeeded: true,
		Attempt: &feedmill.Attempt{
			ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, Number: 1, At: at, Status: 204,
			Header: [][2]string{{"Content-Length", "0"}, {"Date", "Mon, 02 Nov 2026 12:00:00 GMT"}},
		},
	}
}

// each calls do b.N times from all writers and reports the rate.
func each(b *testing.B, do func(ctx context.Context, n int64) error) {
	b.Helper()
	b.ReportAllocs()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := do(b.Context(), n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAccept publishes one event a call, which has one delivery.
func BenchmarkAccept(b *testing.B) {
	db, sub := newBenchStore(b)
	each(b, func(ctx context.Context, n int64) error {
		_, _, err := db.Accept(ctx, []feedmill.Event{benchEvent(sub.Workspace, n)}, nil)
		return err
	})
}

// BenchmarkSettle settles one delivery a call.
func BenchmarkSettle(b *testing.B) {
	db, sub := newBenchStore(b)
	var due []feedmill.DueDelivery
	for len(due) < b.N {
		events := make([]feedmill.Event, min(b.N-len(due), 1000))
		for i := range events {
			events[i] = benchEvent(sub.Workspace, int64(len(due)+i))
		}
		_, fresh, err := db.Accept(b.Context(), events, nil)
		if err != nil {
			b.Fatal(err)
		}
		due = append(due, fresh...)
	}
	each(b, func(ctx context.Context, n int64) error {
		_, err := db.Settle(ctx, []feedmill.Outcome{benchOutcome(due[n-1])})
		return err
	})
}

// BenchmarkAcceptAndSettle is the whole life of an event, one call each.
func BenchmarkAcceptAndSettle(b *testing.B) {
	db, sub := newBenchStore(b)
	each(b, func(ctx context.Context, n int64) error {
		_, due, err := db.Accept(ctx, []feedmill.Event{benchEvent(sub.Workspace, n)}, nil)
		if err != nil {
			return err
		}
		_, err = db.Settle(ctx, []feedmill.Outcome{benchOutcome(due[0])})
		return err
	})
}

// cpuTime is what the process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBatches is the life of events that are published a hundred a call
// and settled five hundred a call, over as many subscriptions as its name says.
func BenchmarkBatches(b *testing.B) {
	for _, subs := range []int{1, 1000} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			db, sub := newBenchStore(b)
			var more []feedmill.Subscription
			for range subs - 1 {
				s := sub
				s.ID = feedmill.NewID(feedmill.PrefixSubscription)
				more = append(more, s)
			}
			if err := db.CreateSubscriptions(b.Context(), more, 0, nil); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var accepting, settling time.Duration
			done, n := 0, int64(0)
			for b.Loop() {
				events := make([]feedmill.Event, max(500/subs, 1))
				for i := range events {
					n++
					events[i] = benchEvent(sub.Workspace, n)
					events[i].DedupeKey = ""
				}
				start := cpuTime(b)
				_, due, err := db.Accept(b.Context(), events, nil)
				if err != nil {
					b.Fatal(err)
				}
				accepting += cpuTime(b) - start
				outcomes := make([]feedmill.Outcome, len(due))
				for i, d := range due {
					outcomes[i] = benchOutcome(d)
					outcomes[i].Seq = d.Seq
				}
				start = cpuTime(b)
				for part := range slices.Chunk(outcomes, 500) {
					if _, err := db.Settle(b.Context(), part); err != nil {
						b.Fatal(err)
					}
				}
				settling += cpuTime(b) - start
				done += len(due)
			}
			b.ReportMetric(float64(accepting.Microseconds())/float64(done), "CPU-µs-accept/delivery")
			b.ReportMetric(float64(settling.Microseconds())/float64(done), "CPU-µs-settle/delivery")
		})
	}
}
