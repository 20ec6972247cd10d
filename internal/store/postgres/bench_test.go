package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// crowd is how many goroutines call at once.
const crowd = 64

// BenchmarkAccept publishes single events with a publisher's id, each to one
// subscription, from a crowd, on a server that keeps what it commits.
func BenchmarkAccept(b *testing.B) {
	db, sub := benchStore(b)
	b.ResetTimer()
	inCrowd(b.N, func() {
		if _, _, err := db.Accept(context.Background(), []feedmill.Event{benchEvent(sub)}, nil); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkSettle delivers them.
func BenchmarkSettle(b *testing.B) {
	db, sub := benchStore(b)
	var due []feedmill.DueDelivery
	for len(due) < b.N {
		events := make([]feedmill.Event, min(1000, b.N-len(due)))
		for i := range events {
			events[i] = benchEvent(sub)
		}
		_, more, err := db.Accept(b.Context(), events, nil)
		if err != nil {
			b.Fatal(err)
		}
		due = append(due, more...)
	}
	var next atomic.Int64
	b.ResetTimer()
	inCrowd(b.N, func() {
		d := due[next.Add(1)-1]
		at := d.DueAt
		o := feedmill.Outcome{
			Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, State: feedmill.DeliveryDelivered, At: at, Succeeded: true,
			Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, Number: 1, At: at, Status: 204},
		}
		if _, err := db.Settle(context.Background(), []feedmill.Outcome{o}); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFanout accepts events that very many subscriptions listen to.
func BenchmarkFanout(b *testing.B) {
	db, _ := benchStore(b)
	storetest.FanoutCost(b, db)
}

// inCrowd calls do n times from a crowd.
func inCrowd(n int, do func()) {
	var wg sync.WaitGroup
	var begun atomic.Int64
	for range crowd {
		wg.Go(func() {
			for begun.Add(1) <= int64(n) {
				do()
			}
		})
	}
	wg.Wait()
}

func benchStore(b *testing.B) (*DB, feedmill.Subscription) {
	b.Helper()
	db, err := Open(b.Context(), pgtest.Start(b, pgtest.Options{Durable: true}).URL(), feedmill.StoreOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db, subscribed(b, db)
}

func benchEvent(sub feedmill.Subscription) feedmill.Event {
	e := newEvent(sub)
	e.PublisherID, e.DedupeKey = string(e.ID), string(e.ID)
	e.Payload = make([]byte, 500)
	return e
}

// BenchmarkCreateSubscriptions creates subscriptions of one workspace, one by one, from a crowd.
func BenchmarkCreateSubscriptions(b *testing.B) {
	db, sub := benchStore(b)
	b.ResetTimer()
	inCrowd(b.N, func() {
		one := sub
		one.ID = feedmill.NewID(feedmill.PrefixSubscription)
		if err := db.CreateSubscriptions(context.Background(), []feedmill.Subscription{one}, 1_000_000, nil); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "subscriptions/s")
}
