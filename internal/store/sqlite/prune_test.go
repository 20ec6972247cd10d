package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestPruneInSteps prunes an event with more deliveries than one call removes,
// among more events than one call looks at.
func TestPruneInSteps(t *testing.T) {
	db, ctx, at := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context(), time.Now()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: at}
	if err := db.CreateWorkspace(ctx, w, nil); err != nil {
		t.Fatal(err)
	}
	subs := make([]feedmill.Subscription, pruneRows+10)
	for i := range subs {
		subs[i] = feedmill.Subscription{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.*"},
			State: feedmill.SubscriptionDisabled, CreatedAt: at, UpdatedAt: at,
		}
	}
	if err := db.CreateSubscriptions(ctx, subs, 0, nil); err != nil {
		t.Fatal(err)
	}
	events := make([]feedmill.Event, pruneEvents+10)
	for i := range events {
		events[i] = feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "tag.created", Timestamp: at, Payload: []byte("{}")}
	}
	events[0].Type = "metric.created"
	if _, _, err := db.Accept(ctx, events, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		events, deliveries int
		more               bool
	}{
		{pruneEvents + 10, 10, true},
		{10, 0, true},
		{0, 0, false},
		{0, 0, false},
	} {
		more, err := db.Prune(ctx, at, at.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		var left, deliveries int
		if err := db.row(ctx, `SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM deliveries)`).Scan(&left, &deliveries); err != nil {
			t.Fatal(err)
		}
		if left != want.events || deliveries != want.deliveries || more != want.more {
			t.Errorf("call %d leaves %d events and %d deliveries, more: %v; want %+v", i, left, deliveries, more, want)
		}
	}
}

// TestPruneComesBack prunes what had to stay when the calls before passed it.
func TestPruneComesBack(t *testing.T) {
	db, ctx, at := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context(), time.Now()
	sub := exercise(t, db)
	if _, err := db.Prune(ctx, at, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	setState := func(state feedmill.SubscriptionState) {
		t.Helper()
		if _, err := db.ChangeSubscription(ctx, sub.Workspace, sub.ID, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			s.State = state
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	setState(feedmill.SubscriptionActive)
	e := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: sub.Workspace, Type: "metric.created", Timestamp: at, Payload: []byte("{}")}
	if _, _, err := db.Accept(ctx, []feedmill.Event{e}, nil); err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{true, false} {
		if _, err := db.Prune(ctx, at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Event(ctx, sub.Workspace, e.ID); (err == nil) != there {
			t.Errorf("the event is found with %v, want it there: %v", err, there)
		}
		setState(feedmill.SubscriptionDisabled) // which discards its delivery
	}
}

// TestPruneOfReopened prunes an event of which more deliveries than one call
// removes are opened again in between.
func TestPruneOfReopened(t *testing.T) {
	db, ctx, at := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context(), time.Now()
	sub := exercise(t, db)
	subs := make([]feedmill.Subscription, 3*pruneRows)
	for i := range subs {
		subs[i] = sub
		subs[i].ID, subs[i].State = feedmill.NewID(feedmill.PrefixSubscription), feedmill.SubscriptionDisabled
	}
	if err := db.CreateSubscriptions(ctx, subs, 0, nil); err != nil {
		t.Fatal(err)
	}
	e := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: sub.Workspace, Type: "metric.created", Timestamp: at, Payload: []byte("{}")}
	if _, _, err := db.Accept(ctx, []feedmill.Event{e}, nil); err != nil {
		t.Fatal(err)
	}
	for call, more := 0, true; more; call++ {
		var err error
		if more, err = db.Prune(ctx, at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := db.write(ctx, func(tx *tx) error { _, err := tx.exec(`UPDATE deliveries SET state = 2`); return err }); err != nil {
			t.Fatal(err)
		}
		if call > 10 {
			t.Fatal("there is more for ever")
		}
	}
}
