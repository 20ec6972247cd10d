package postgres

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// subscribed makes a workspace with a subscription to all metric events.
func subscribed(t testing.TB, db *DB) feedmill.Subscription {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), CreatedAt: now}
	w.Name = string(w.ID)
	sub := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.*"},
		State: feedmill.SubscriptionActive, CreatedAt: now, UpdatedAt: now,
	}
	if err := db.CreateWorkspace(t.Context(), w, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateSubscriptions(t.Context(), []feedmill.Subscription{sub}, 0, nil); err != nil {
		t.Fatal(err)
	}
	return sub
}

// newEvent is an event that the subscription hears of.
func newEvent(sub feedmill.Subscription) feedmill.Event {
	return feedmill.Event{
		ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: sub.Workspace, Type: "metric.created", ResourceID: "m_1",
		Timestamp: time.Now().UTC().Truncate(time.Millisecond), Payload: []byte("{}"),
	}
}

// published accepts one event, with its one delivery.
func published(t testing.TB, db *DB, sub feedmill.Subscription) feedmill.DueDelivery {
	t.Helper()
	_, due, err := db.Accept(t.Context(), []feedmill.Event{newEvent(sub)}, nil)
	if err != nil || len(due) != 1 {
		t.Fatalf("%d deliveries, %v", len(due), err)
	}
	return due[0]
}

// ended is the outcome of an attempt that left a delivery in the state given.
func ended(d feedmill.DueDelivery, state feedmill.DeliveryState) feedmill.Outcome {
	at := time.Now().UTC().Truncate(time.Millisecond)
	return feedmill.Outcome{
		Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, State: state, At: at, DueAt: at.Add(time.Hour),
		Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, At: at, Status: 500},
	}
}
