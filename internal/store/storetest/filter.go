package storetest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Filters record what the filters of subscriptions decided. The filters of the suite are
// words that the payload must contain; a filter "fail: why" fails.
type Filters interface {
	// FilteredSubscriptions are up to limit of a workspace that have a filter.
	FilteredSubscriptions(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.Subscription, error)
	// EventFiltered says which subscriptions did not get an event because of their filter.
	EventFiltered(ctx context.Context, workspace, event feedmill.ID) (feedmill.Filtered, error)
}

// openEvent evaluates the filters of the suite.
func openEvent(payload []byte) feedmill.EventFilter {
	return func(filter string) feedmill.FilterVerdict {
		v := feedmill.FilterVerdict{Key: feedmill.FilterKey(filter), Matches: bytes.Contains(payload, []byte(`"`+filter+`"`))}
		if why, fails := strings.CutPrefix(filter, "fail: "); fails {
			v.Matches, v.Error = false, why
		}
		return v
	}
}

// saying is an event with a word in its payload.
func saying(w feedmill.ID, word string) feedmill.Event {
	e := newEvent(w, "metric.created", "m_1")
	e.Payload = []byte(`{"id":"` + string(e.ID) + `","data":{"word":"` + word + `"}}`)
	return e
}

// evaluated adds the verdicts of subscriptions to an event.
func evaluated(e feedmill.Event, subs ...feedmill.Subscription) feedmill.Event {
	e.Verdicts = make(feedmill.FilterVerdicts)
	for _, sub := range subs {
		e.Verdicts[sub.ID] = openEvent(e.Payload)(sub.Filter)
	}
	return e
}

// filtering creates a subscription with a filter.
func filtering(t *testing.T, s Store, w feedmill.ID, filter string, change ...func(*feedmill.Subscription)) feedmill.Subscription {
	t.Helper()
	sub := newSubscription(w, "metric.created", "metric.*")
	sub.Filter = filter
	for _, change := range change {
		change(&sub)
	}
	must(t, s.CreateSubscriptions(t.Context(), []feedmill.Subscription{sub}, 0, nil))
	return sub
}

// setFilter changes the filter of a subscription.
func setFilter(t *testing.T, s Store, sub feedmill.Subscription, filter string) {
	t.Helper()
	changed, err := s.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		sub.Filter = filter
		return nil, nil
	})
	must(t, err)
	equal(t, "filter", filter, changed.Filter)
}

// wantOne checks that a subscription has one delivery of an event in a state, with a reason.
func wantOne(t *testing.T, s Store, sub feedmill.Subscription, e feedmill.Event, state feedmill.DeliveryState, reason string) {
	t.Helper()
	got := deliveries(t, s, sub)
	if len(got) != 1 || got[0].Event != e.ID || got[0].State != state || got[0].Reason != reason {
		t.Errorf("with the filter %q there are %+v; want one that is %s, %q", sub.Filter, got, state, reason)
	}
}

func wantNone(t *testing.T, s Store, sub feedmill.Subscription) {
	t.Helper()
	if got := deliveries(t, s, sub); len(got) != 0 {
		t.Errorf("with the filter %q there are %+v", sub.Filter, got)
	}
}

func wantFiltered(t *testing.T, s Store, e feedmill.Event, subs ...feedmill.Subscription) {
	t.Helper()
	got, err := s.EventFiltered(t.Context(), e.Workspace, e.ID)
	must(t, err)
	want := feedmill.Filtered{Count: len(subs)}
	for _, sub := range subs {
		want.Subscriptions = append(want.Subscriptions, sub.ID)
	}
	equal(t, "filtered", want, got)
}

var filterCases = []testCase{
	{name: "decided before acceptance", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		disabled := func(sub *feedmill.Subscription) { sub.State = feedmill.SubscriptionDisabled }
		all, yes, no := subscribe(t, s, a.ID, "metric.*"), filtering(t, s, a.ID, "blue"), filtering(t, s, a.ID, "red")
		fails, off, offNo := filtering(t, s, a.ID, "fail: broken"), filtering(t, s, a.ID, "blue", disabled), filtering(t, s, a.ID, "red", disabled)
		other := filtering(t, s, b.ID, "blue")
		e := evaluated(saying(a.ID, "blue"), yes, no, fails, off, offNo)
		accepted, due := accept(t, s, e)
		if accepted[0].Promised || len(due) != 2 {
			t.Fatalf("%d deliveries are due, promised: %v", len(due), accepted[0].Promised)
		}
		wantOne(t, s, all, e, feedmill.DeliveryPending, "")
		wantOne(t, s, yes, e, feedmill.DeliveryPending, "")
		wantOne(t, s, fails, e, feedmill.DeliveryDiscarded, "filter-error: broken")
		wantOne(t, s, off, e, feedmill.DeliveryDiscarded, feedmill.DiscardedDisabled)
		wantNone(t, s, no)
		wantNone(t, s, offNo)
		wantNone(t, s, other)
		wantFiltered(t, s, e, no, offNo)
		wantFiltered(t, s, feedmill.Event{ID: e.ID, Workspace: b.ID})
		found, err := s.FilteredSubscriptions(t.Context(), a.ID, 3)
		must(t, err)
		equal(t, "subscriptions with filters", 3, len(found))
		must(t, s.DeleteSubscription(t.Context(), b.ID, other.ID, now()))
		found, err = s.FilteredSubscriptions(t.Context(), b.ID, 3)
		must(t, err)
		equal(t, "deleted subscriptions with filters", 0, len(found))
	}},
	{name: "promised without verdicts, or with those of another filter", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		all, yes, no, fails := subscribe(t, s, w.ID, "metric.*"), filtering(t, s, w.ID, "blue"), filtering(t, s, w.ID, "red"), filtering(t, s, w.ID, "fail: broken")
		e := evaluated(saying(w.ID, "blue"), yes, no)
		outdated := fails
		outdated.Filter = "blue"
		e.Verdicts[fails.ID] = evaluated(e, outdated).Verdicts[fails.ID]
		accepted, due := accept(t, s, e)
		if !accepted[0].Promised || len(due) != 0 {
			t.Fatalf("%d deliveries are due, promised: %v", len(due), accepted[0].Promised)
		}
		wantNone(t, s, all)
		must(t, s.Close())
		s = open(t)
		if due := makePromised(t, s, 2); len(due) != 2 || string(due[0].Payload) != string(e.Payload) {
			t.Errorf("%d deliveries are due", len(due))
		}
		wantOne(t, s, all, e, feedmill.DeliveryPending, "")
		wantOne(t, s, yes, e, feedmill.DeliveryPending, "")
		wantOne(t, s, fails, e, feedmill.DeliveryDiscarded, "filter-error: broken")
		wantNone(t, s, no)
		wantFiltered(t, s, e, no)
	}},
	{name: "promised with the filters at acceptance", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w, b := newWorkspace(t, s), newWorkspace(t, s)
		changed, removed, added := filtering(t, s, w.ID, "blue"), filtering(t, s, w.ID, "red"), subscribe(t, s, w.ID, "metric.*")
		deleted, deletedNo := filtering(t, s, w.ID, "blue"), filtering(t, s, w.ID, "red")
		other := filtering(t, s, b.ID, "red")
		e, of := saying(w.ID, "blue"), saying(b.ID, "blue")
		accept(t, s, e)
		accept(t, s, of)
		setFilter(t, s, changed, "red")
		setFilter(t, s, changed, "green")
		setFilter(t, s, removed, "")
		setFilter(t, s, added, "red")
		must(t, s.DeleteSubscription(t.Context(), w.ID, deleted.ID, now()))
		must(t, s.DeleteSubscription(t.Context(), w.ID, deletedNo.ID, now()))
		late := filtering(t, s, w.ID, "blue")
		makePromised(t, s, 1)
		wantOne(t, s, changed, e, feedmill.DeliveryPending, "")
		wantOne(t, s, added, e, feedmill.DeliveryPending, "")
		wantOne(t, s, deleted, e, feedmill.DeliveryDiscarded, feedmill.DiscardedDeleted)
		wantNone(t, s, removed)
		wantNone(t, s, deletedNo)
		wantNone(t, s, late)
		wantFiltered(t, s, e, removed, deletedNo)
		wantFiltered(t, s, of, other)
	}},
	{name: "many filters, of which an event names the first that did not match", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		subs := make([]feedmill.Subscription, 150)
		for i := range subs {
			subs[i] = newSubscription(w.ID, "metric.*")
			subs[i].Filter = []string{"red", "red", "blue"}[i%3]
		}
		must(t, s.CreateSubscriptions(t.Context(), subs, 0, nil))
		e := saying(w.ID, "blue")
		accept(t, s, e)
		due := 0
		for worked := true; worked; {
			some, again, err := s.StepFanout(t.Context(), now(), UpTo(16, 64))
			must(t, err)
			worked, due = again, due+len(some)
		}
		got, err := s.EventFiltered(t.Context(), w.ID, e.ID)
		must(t, err)
		if due != 50 || got.Count != 100 || len(got.Subscriptions) != feedmill.MaxNamedFiltered {
			t.Errorf("%d deliveries are due; %d were filtered and %d are named", due, got.Count, len(got.Subscriptions))
		}
	}},
	{name: "replays use the filter that there is", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		blue, red := saying(w.ID, "blue"), saying(w.ID, "red")
		accept(t, s, blue, red)
		at := now().Add(time.Minute)
		for filter, want := range map[string][2]feedmill.DeliveryState{
			"blue": {feedmill.DeliveryPending}, "red": {"", feedmill.DeliveryPending}, "": {feedmill.DeliveryPending, feedmill.DeliveryPending},
			"fail: broken": {feedmill.DeliveryDiscarded, feedmill.DeliveryDiscarded},
		} {
			sub := filtering(t, s, w.ID, filter)
			r := newReplay(sub, feedmill.ReplayMissing)
			must(t, s.CreateReplay(ctx, r, nil))
			finishReplays(t, s, at, 10)
			states := make(map[feedmill.ID]feedmill.DeliveryState)
			for _, d := range deliveries(t, s, sub) {
				states[d.Event] = d.State
				if d.State == feedmill.DeliveryDiscarded && d.Reason != "filter-error: broken" {
					t.Errorf("the reason is %q", d.Reason)
				}
			}
			equal(t, "states with the filter "+filter, want, [2]feedmill.DeliveryState{states[blue.ID], states[red.ID]})
			got := foundReplay(t, s, r)
			equal(t, "made", len(states), got.Made)
			equal(t, "total", len(states), got.Total)
		}
	}},
	{name: "what was filtered goes with its event", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		no := filtering(t, s, w.ID, "red")
		e := evaluated(saying(w.ID, "blue"), no)
		accept(t, s, e)
		wantFiltered(t, s, e, no)
		for more := true; more; {
			var err error
			more, err = s.Prune(t.Context(), now(), now().Add(-time.Hour))
			must(t, err)
		}
		wantFiltered(t, s, e, no)
		for more := true; more; {
			var err error
			more, err = s.Prune(t.Context(), now(), now().Add(48*time.Hour))
			must(t, err)
		}
		wantFiltered(t, s, e)
	}},
}
