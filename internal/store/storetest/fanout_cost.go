package storetest

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// FanoutCost measures what it takes to accept 20 events that 100,000 subscriptions
// listen to, and how many times as long that is as for events of which nobody hears.
func FanoutCost(b *testing.B, s Store) {
	const subscriptions, events = 100_000, 20
	at := now()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: at}
	if err := s.CreateWorkspace(b.Context(), w, nil); err != nil {
		b.Fatal(err)
	}
	subs := make([]feedmill.Subscription, subscriptions)
	for i := range subs {
		subs[i] = newSubscription(w.ID, "metric.*")
	}
	if err := s.CreateSubscriptions(b.Context(), subs, 0, nil); err != nil {
		b.Fatal(err)
	}
	accept := func(kind string) time.Duration {
		batch := newEvents(events, w.ID, kind, "")
		began := time.Now()
		_, due, err := s.Accept(b.Context(), batch, nil)
		if err != nil || len(due) != 0 {
			b.Fatalf("%d deliveries are made at once (%v)", len(due), err)
		}
		return time.Since(began)
	}
	accept("tag.created")
	accept("metric.created")
	var alone, heard time.Duration
	for b.Loop() {
		alone += accept("tag.created")
		heard += accept("metric.created")
	}
	b.ReportMetric(float64(heard.Microseconds())/float64(b.N), "heard-µs")
	b.ReportMetric(float64(alone.Microseconds())/float64(b.N), "unheard-µs")
	b.ReportMetric(float64(heard)/float64(alone), "times")
}
