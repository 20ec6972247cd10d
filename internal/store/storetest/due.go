package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// DueWork is what is to be sent.
type DueWork interface {
	// Rewind puts right what retries in the slots wait for after the clock
	// was set back to now: one whose last attempt lies in the future waits as
	// long from now on as it was to wait from that attempt on. It looks at up
	// to limit retries behind after, and returns how far it came and whether
	// there may be more.
	Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (reached feedmill.RetryPosition, more bool, err error)
	// DueSubscriptions are up to limit subscriptions, in the given slots and
	// after the id after, that have an open delivery due at now; in the order
	// of their ids.
	DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error)
	// Due lists open deliveries of a subscription that are due: retries whose
	// time has come, by that time, and then what is pending, in the order of
	// acceptance; behind the one that the query names, what is pending alone.
	// With Heads, which is for ordered subscriptions, only those that are the
	// first open delivery (by Seq) of their resource: in the order of
	// resources, all or those behind one; or of some resources, and with Each what
	// is behind these; or those of which an attempt has failed, by their time.
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	// DiscardOpen discards up to limit open deliveries of a subscription that is
	// disabled or deleted, and reports how many. Of any other it discards none.
	DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error)
	// HoldOpen makes up to limit retrying deliveries of a subscription
	// pending, as those of a paused one are, and reports how many. When they
	// are due, and how often they were tried, stays.
	HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error)
	// OrderOpen makes Due with Heads see up to limit open deliveries that were
	// accepted before their subscription became ordered. It reports whether
	// there may be more.
	OrderOpen(ctx context.Context, subscription feedmill.ID, limit int) (more bool, err error)
	// OpenWork counts open deliveries, as far as feedmill.MaxCountedBacklog, and
	// finds the oldest due time among those whose subscription is not paused, for
	// metrics; zero where there are none.
	OpenWork(ctx context.Context, now time.Time) (open int64, oldestDue time.Time, err error)
}

// retryAt makes a delivery wait for a time.
func retryAt(t *testing.T, s Store, d *feedmill.DueDelivery, at time.Time) {
	t.Helper()
	o := newOutcome(*d, feedmill.DeliveryRetrying)
	o.DueAt = at
	_, err := s.Settle(t.Context(), []feedmill.Outcome{o})
	must(t, err)
	d.State, d.DueAt = feedmill.DeliveryRetrying, at
	d.Attempts++
}

// order makes a subscription an ordered one.
func order(t *testing.T, s Store, sub feedmill.Subscription) {
	t.Helper()
	_, err := s.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		sub.Delivery.Ordered = true
		return nil, nil
	})
	must(t, err)
}

func allSlots() []int {
	slots := make([]int, feedmill.Slots)
	for i := range slots {
		slots[i] = i
	}
	return slots
}

var dueCases = []testCase{
	{name: "retries by their time, then what is pending in the order of acceptance", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(7, w.ID, "metric.created", "m_1")...)
		due = slices.DeleteFunc(due, func(d feedmill.DueDelivery) bool { return d.Subscription != sub.ID })
		at := now()
		retryAt(t, s, &due[0], at.Add(3*time.Second))
		retryAt(t, s, &due[1], at.Add(time.Second))
		retryAt(t, s, &due[2], at.Add(time.Second))
		settle(t, s, due[4], feedmill.DeliveryDelivered)
		settle(t, s, due[5], feedmill.DeliveryExhausted)
		for _, c := range []struct {
			after time.Duration
			limit int
			want  []int
		}{
			{0, 9, []int{3, 6}},
			{999 * time.Millisecond, 9, []int{3, 6}},
			{time.Second, 9, []int{1, 2, 3, 6}},
			{time.Second, 2, []int{1, 2}},
			{time.Hour, 9, []int{1, 2, 0, 3, 6}},
		} {
			var wanted []feedmill.DueDelivery
			for _, i := range c.want {
				wanted = append(wanted, due[i])
			}
			got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at.Add(c.after), Limit: c.limit})
			must(t, err)
			equal(t, fmt.Sprintf("after %v, at most %d", c.after, c.limit), wanted, got)
		}
		// From one on there is only what is pending, whatever it is itself.
		for i, wanted := range map[int][]feedmill.DueDelivery{1: {due[3], due[6]}, 3: {due[3], due[6]}, 4: {due[6]}, 6: {due[6]}} {
			got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at.Add(time.Hour), From: due[i].ID, Limit: 9})
			must(t, err)
			equal(t, fmt.Sprint("from ", i), wanted, got)
		}
		// What is held is pending, whenever its next try was to be.
		for _, wanted := range []int{3, 0} {
			n, err := s.HoldOpen(ctx, sub.ID, 9)
			must(t, err)
			if n != wanted {
				t.Errorf("held %d, want %d", n, wanted)
			}
		}
		got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Limit: 9})
		must(t, err)
		if len(got) != 5 || got[0].ID != due[0].ID || got[4].ID != due[6].ID {
			t.Errorf("%d held deliveries are due, want 5 in the order of acceptance", len(got))
		}
	}},
	{name: "a list ends where its payloads come to the bytes that are wanted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, ordered := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		order(t, s, ordered)
		events := newEvents(100, w.ID, "metric.created", "m_1")
		for i := range events {
			events[i].ResourceID = fmt.Sprint("m_", i)
			events[i].Payload = []byte(strings.Repeat("x", 1000))
		}
		_, due := accept(t, s, events...)
		at := now()
		retryAt(t, s, &due[slices.IndexFunc(due, func(d feedmill.DueDelivery) bool { return d.Subscription == sub.ID })], at)
		for bytes, want := range map[int]int{0: 100, 1: 1, 1000: 1, 1001: 2, 80_000: 80, 99_999: 100, 1_000_000: 100} {
			for _, id := range []feedmill.ID{sub.ID, ordered.ID} {
				q := feedmill.DueQuery{Subscription: id, Now: at.Add(time.Second), Heads: id == ordered.ID, Limit: 200, MaxBytes: bytes}
				for range 2 { // the first leaves nothing behind
					got, err := s.Due(ctx, q)
					must(t, err)
					if len(got) != want || q.IsFull(got) != (bytes > 0 && bytes <= 100_000) {
						t.Errorf("%d bytes, heads %v: %d deliveries, want %d; it is full: %v", bytes, q.Heads, len(got), want, q.IsFull(got))
					}
				}
			}
		}
	}},
	{name: "heads: a delivery waits for those before it of its resource alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		order(t, s, sub)
		_, due := accept(t, s,
			newEvent(w.ID, "metric.created", "x"), newEvent(w.ID, "metric.created", "y"), newEvent(w.ID, "metric.updated", "x"),
			newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "metric.created", "a"))
		at := now()
		heads := func(after time.Duration, limit int, wanted ...int) {
			t.Helper()
			got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at.Add(after), Heads: true, Limit: limit})
			must(t, err)
			var list []feedmill.DueDelivery
			for _, i := range wanted {
				list = append(list, due[i])
			}
			equal(t, "heads", list, got)
		}
		heads(0, 9, 3, 5, 0, 1)
		heads(0, 2, 3, 5)
		retryAt(t, s, &due[0], at.Add(time.Hour))
		heads(0, 9, 3, 5, 1)
		settle(t, s, due[1], feedmill.DeliveryDelivered)
		heads(0, 9, 3, 5)
		settle(t, s, due[3], feedmill.DeliveryDiscarded)
		heads(0, 9, 4, 5)
		heads(time.Hour, 9, 4, 5, 0)
		settle(t, s, due[0], feedmill.DeliveryExhausted)
		heads(0, 9, 4, 5, 2)
	}},
	{name: "heads: behind a resource, of some of them, and of what was tried before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		order(t, s, sub)
		_, due := accept(t, s,
			newEvent(w.ID, "metric.created", "x"), newEvent(w.ID, "metric.created", `y"ü`), newEvent(w.ID, "metric.updated", "x"),
			newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "metric.created", "a"), newEvent(w.ID, "metric.updated", "a"),
			newEvent(w.ID, "metric.created", "b"), newEvent(w.ID, "metric.updated", "b"), newEvent(w.ID, "metric.updated", "b"))
		at := now()
		retryAt(t, s, &due[7], at.Add(time.Minute)) // so was this
		retryAt(t, s, &due[0], at.Add(time.Minute))
		retryAt(t, s, &due[1], at.Add(time.Second))
		retryAt(t, s, &due[5], at) // it was tried before its subscription was ordered
		for name, c := range map[string]struct {
			q    feedmill.DueQuery
			want []int
		}{
			"from the beginning":    {feedmill.DueQuery{Limit: 2}, []int{3, 4}},
			"behind the first":      {feedmill.DueQuery{After: new(""), Limit: 9}, []int{4, 6, 0, 1}},
			"behind one":            {feedmill.DueQuery{After: new("a"), Limit: 1}, []int{6}},
			"behind one that fails": {feedmill.DueQuery{After: new("b"), Now: at, Limit: 9}, nil},
			"behind all":            {feedmill.DueQuery{After: new("z"), Limit: 9}, nil},
			"some":                  {feedmill.DueQuery{Resources: []string{"z", `y"ü`, "", "a"}, Limit: 9}, []int{1, 3, 4}},
			"some, the first":       {feedmill.DueQuery{Resources: []string{`y"ü`, "", "a"}, Limit: 2}, []int{1, 3}},
			"some, two of each":     {feedmill.DueQuery{Resources: []string{"x", "z", "", "a"}, Each: 2, Limit: 9}, []int{0, 3, 4, 2, 5}},
			"some, as many as may":  {feedmill.DueQuery{Resources: []string{"x", "", "a"}, Each: 2, Limit: 4}, []int{0, 3, 4, 2}},
			"as far as it is due":   {feedmill.DueQuery{Resources: []string{"x", "b", "a"}, Each: 9, Now: at.Add(time.Second), Limit: 9}, []int{6, 4, 5}},
			"some that fail":        {feedmill.DueQuery{Resources: []string{"x", "a"}, Now: at, Limit: 9}, []int{4}},
			"tried":                 {feedmill.DueQuery{Retries: true, Limit: 9}, []int{1, 0}},
			"tried, the first":      {feedmill.DueQuery{Retries: true, Limit: 1}, []int{1}},
			"tried, later":          {feedmill.DueQuery{Retries: true, Now: at, Limit: 9}, nil},
		} {
			c.q.Subscription, c.q.Heads = sub.ID, true
			if c.q.Now.IsZero() {
				c.q.Now = at.Add(time.Hour)
			}
			got, err := s.Due(ctx, c.q)
			must(t, err)
			var want, found []feedmill.ID
			for _, i := range c.want {
				want = append(want, due[i].ID)
			}
			for _, d := range got {
				found = append(found, d.ID)
			}
			equal(t, name, want, found)
		}
	}},
	{name: "heads: a subscription that becomes ordered orders what is open", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(3, w.ID, "metric.created", "x")...)
		due = slices.DeleteFunc(due, func(d feedmill.DueDelivery) bool { return d.Subscription != sub.ID })
		retryAt(t, s, &due[0], now().Add(time.Hour))
		order(t, s, sub)
		_, late := accept(t, s, newEvent(w.ID, "metric.created", "x"), newEvent(w.ID, "metric.created", "y"))
		late = slices.DeleteFunc(late, func(d feedmill.DueDelivery) bool { return d.Subscription != sub.ID })
		steps := 0
		for more := true; more; steps++ {
			var err error
			more, err = s.OrderOpen(ctx, sub.ID, 2)
			must(t, err)
		}
		if steps > 3 {
			t.Errorf("five deliveries took %d steps of two", steps)
		}
		got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: now(), Heads: true, Limit: 9})
		must(t, err)
		equal(t, "heads", []feedmill.DueDelivery{late[1]}, got)
		got, err = s.Due(ctx, feedmill.DueQuery{Subscription: other.ID, Now: now(), Limit: 9})
		must(t, err)
		if len(got) != 5 {
			t.Errorf("another subscription has %d due, want 5", len(got))
		}
	}},
	{name: "subscriptions with work that is due, of the slots asked for", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		var subs []feedmill.ID
		for range 5 {
			subs = append(subs, subscribe(t, s, w.ID, "metric.*").ID)
		}
		idle, waiting := subscribe(t, s, w.ID, "tag.*"), subscribe(t, s, w.ID, "dashboard.*")
		accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
		_, done := accept(t, s, newEvent(w.ID, "tag.created", ""))
		settle(t, s, done[0], feedmill.DeliveryDelivered)
		_, later := accept(t, s, newEvent(w.ID, "dashboard.created", ""))
		at := now()
		retryAt(t, s, &later[0], at.Add(time.Second))

		var inSlot []feedmill.ID
		for _, id := range append(slices.Clone(subs), waiting.ID) {
			if feedmill.Slot(id) == feedmill.Slot(subs[2]) {
				inSlot = append(inSlot, id)
			}
		}
		for _, c := range []struct {
			name  string
			slots []int
			at    time.Time
			after feedmill.ID
			limit int
			want  []feedmill.ID
		}{
			{"all", allSlots(), at, "", 99, subs},
			{"a page", allSlots(), at, "", 2, subs[:2]},
			{"the next page", allSlots(), at, subs[1], 2, subs[2:4]},
			{"past the last", allSlots(), at, subs[4], 2, nil},
			{"later", allSlots(), at.Add(time.Second), subs[3], 99, []feedmill.ID{subs[4], waiting.ID}},
			{"one slot", []int{feedmill.Slot(subs[2])}, at.Add(time.Second), "", 99, inSlot},
			{"no slot", nil, at, "", 99, nil},
		} {
			got, err := s.DueSubscriptions(ctx, c.slots, c.at, c.after, c.limit)
			must(t, err)
			equal(t, c.name, c.want, got)
			if slices.Contains(got, idle.ID) {
				t.Errorf("%s: a subscription without open deliveries is due", c.name)
			}
		}
	}},
	{name: "a clock that is set back makes nothing wait longer", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(4, w.ID, "metric.created", "m_1")...)
		ahead := now()
		for i, wait := range []time.Duration{5 * time.Minute, 0, 3 * time.Hour} {
			o := newOutcome(due[i], feedmill.DeliveryRetrying)
			o.Attempt.At, o.DueAt = ahead, ahead.Add(wait)
			if i == 2 { // long enough ago for the clock to be past it still
				o.Attempt.At = ahead.Add(-2 * time.Hour)
			}
			_, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
		}
		at := ahead.Add(-time.Hour)
		dueAt := func(at time.Time, wanted ...int) {
			t.Helper()
			got, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Limit: 9})
			must(t, err)
			var ids, wantedIDs []feedmill.ID
			for _, d := range got {
				ids = append(ids, d.ID)
			}
			for _, i := range wanted {
				wantedIDs = append(wantedIDs, due[i].ID)
			}
			equal(t, "due", wantedIDs, ids)
		}
		dueAt(at, 3)
		rewind := func(at time.Time, slots ...int) {
			t.Helper()
			var reached feedmill.RetryPosition
			for i, more := 0, true; more; i++ {
				before := reached
				var err error
				reached, more, err = s.Rewind(ctx, slots, at, before, 2)
				must(t, err)
				if more && reached == before || i > 2 {
					t.Fatalf("it came from %v to %v", before, reached)
				}
			}
		}
		rewind(ahead.Add(time.Hour), allSlots()...) // a clock that is ahead has nothing to put right
		dueAt(at, 3)
		rewind(at, allSlots()...)
		dueAt(at, 1, 3)
		dueAt(at.Add(5*time.Minute-time.Millisecond), 1, 3)
		dueAt(at.Add(5*time.Minute), 1, 0, 3)
		dueAt(ahead.Add(3*time.Hour-time.Millisecond), 1, 0, 3)
		dueAt(ahead.Add(3*time.Hour), 1, 0, 2, 3)
	}},
	{name: "open work is counted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subs := []feedmill.Subscription{subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")}
		if p, err := s.Place(ctx); err != nil || p.Engine == "" || p.Where == "" {
			t.Errorf("the records are kept in %+v: %v", p, err)
		}
		check := func(open int64, oldest time.Time) {
			t.Helper()
			n, due, err := s.OpenWork(ctx, now())
			must(t, err)
			if n != open || !due.Equal(oldest) {
				t.Errorf("%d are open, the oldest due at %v; want %d and %v", n, due, open, oldest)
			}
		}
		check(0, time.Time{})
		_, due := accept(t, s, newEvents(2, w.ID, "metric.created", "")...)
		at := now()
		retryAt(t, s, &due[0], at.Add(-time.Hour))
		check(4, at.Add(-time.Hour))
		// What a paused subscription holds is not due, however old it is.
		for _, sub := range subs {
			if sub.ID == due[0].Subscription {
				setState(t, s, sub, feedmill.SubscriptionPaused)
				check(4, due[slices.IndexFunc(due, func(d feedmill.DueDelivery) bool { return d.Subscription != sub.ID })].DueAt)
				setState(t, s, sub, feedmill.SubscriptionActive)
			}
		}
		check(4, at.Add(-time.Hour))
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		check(0, time.Time{})
	}},
}
