package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// The deliveries of an event are found however they came about.
func TestEventRoutesOfManyEvents(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	for range 4 {
		more := sub
		more.ID = feedmill.NewID(feedmill.PrefixSubscription)
		if err := db.CreateSubscriptions(t.Context(), []feedmill.Subscription{more}, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	events := []feedmill.Event{newEvent(sub), newEvent(sub), newEvent(sub)}
	// An event of yesterday whose deliveries are of today.
	events[1].ID = feedmill.FirstID(feedmill.PrefixEvent, time.Now().Add(-aDay))
	_, due, err := db.Accept(t.Context(), events, nil)
	if err != nil || len(due) != 15 {
		t.Fatalf("%d deliveries, %v", len(due), err)
	}
	for _, i := range []int{0, 4, 5, 7, 10, 12} {
		if _, err := db.Settle(t.Context(), []feedmill.Outcome{ended(due[i], feedmill.DeliveryExhausted)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.RetryDelivery(t.Context(), sub.Workspace, due[4].ID, 1, time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	r := feedmill.NewReplay(feedmill.Replay{
		Workspace: sub.Workspace, Subscription: due[0].Subscription, Selection: feedmill.ReplayExhausted, Until: time.Now().Add(time.Hour), CreatedAt: time.Now(),
	})
	if err := db.CreateReplay(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is counted first
		if _, _, err := db.StepReplay(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
	}
	var ids []feedmill.ID
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	of, err := db.EventRoutes(t.Context(), sub.Workspace, ids, 99)
	for i, e := range events {
		routes := of[e.ID]
		if err != nil || len(routes) != 6 {
			t.Fatalf("event %d has %d routes (%v), want five and that of the replay", i, len(routes), err)
		}
		if !slices.IsSortedFunc(routes, func(a, b feedmill.EventRoute) int { return int(a.Delivery.Time().Sub(b.Delivery.Time())) }) {
			t.Errorf("routes of event %d are %v, want the oldest first", i, routes)
		}
		for j, d := range due[5*i : 5*i+5] {
			if routes[j].Delivery != d.ID || routes[j].Subscription != d.Subscription {
				t.Errorf("route %d of event %d is %v, want %s", j, i, routes[j], d.ID)
			}
		}
	}
}

func TestSequenceGoesOnInTheNextBlock(t *testing.T) {
	s := sequence{1 << blockBits, 5 << blockBits}
	for i, want := range map[int]int64{0: 1 << blockBits, blockSize - 1: 2<<blockBits - 1, blockSize: 5 << blockBits, blockSize + 1: 5<<blockBits + 1} {
		if got := s.seq(i); got != want {
			t.Errorf("delivery %d has number %d, want %d", i, got, want)
		}
	}
	for n, want := range map[int]int{0: 0, 1: 1, blockSize: 1, blockSize + 1: 2} {
		if got := blocksFor(n); got != want {
			t.Errorf("%d deliveries need %d blocks, want %d", n, got, want)
		}
	}
}

func TestSharedTransactionsAreBoundedByDeliveries(t *testing.T) {
	var db DB
	p := &acceptCall{events: []feedmill.Event{{Workspace: "ws_1"}}}
	unknown := db.weight(p)
	db.fanouts.note("ws_1", 3, 2)
	if got := db.weight(p); got != eventBytes+2*deliveryBytes || got >= unknown {
		t.Errorf("weight is %d, and was %d before anything was known", got, unknown)
	}
	for i := range maxFanouts + 1 {
		db.fanouts.note(feedmill.NewID(feedmill.PrefixWorkspace), i, 1)
	}
	if n := len(db.fanouts.recent); n > maxFanouts {
		t.Errorf("%d workspaces are remembered", n)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	var r payloadCache
	text := make([]byte, payloadCacheBytes/4)
	ids := make([]feedmill.ID, 12)
	for i := range ids {
		ids[i] = feedmill.NewID(feedmill.PrefixEvent)
		r.put(ids[i], text)
		if _, ok := r.get(ids[0]); !ok {
			t.Fatal("what is asked for all the time is forgotten")
		}
	}
	if _, ok := r.get(ids[1]); ok {
		t.Error("what nobody asks for is remembered for ever")
	}
	if len(r.young)+len(r.old) > 8 {
		t.Errorf("%d payloads are remembered", len(r.young)+len(r.old))
	}
}
