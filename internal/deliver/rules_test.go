package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// bare is a dispatcher that does not run.
func bare(store Store) *Dispatcher {
	return New(Options{
		Store: store, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Random: func() float64 { return 0.5 },
	})
}

// When a failed delivery is tried again: after the subscription's own wait where it has
// any, else the service's, and never before the endpoint asked for it.
func TestWhenAFailureIsTriedAgain(t *testing.T) {
	hourly := feedmill.RetrySchedule{time.Hour}
	for _, c := range []struct {
		own        feedmill.RetrySchedule
		attempt    int
		most       int32
		retryAfter time.Duration
		failures   int
		want       time.Duration // zero where it is not
		counted    bool
	}{
		{attempt: 1, most: 10, want: 5 * time.Second, counted: true},
		{attempt: 1, most: 10, retryAfter: time.Second, want: 5 * time.Second, counted: true},
		{attempt: 1, most: 10, retryAfter: time.Minute, want: time.Minute, counted: true},
		{own: hourly, attempt: 1, most: 2, want: time.Hour, counted: true},
		{own: hourly, attempt: 1, most: 2, retryAfter: 2 * time.Hour, want: 2 * time.Hour, counted: true},
		{own: hourly, attempt: 2, most: 2, counted: true},
		{attempt: 10, most: 10, counted: true},
		// Failures are counted as far as it takes to disable a subscription.
		{attempt: 1, most: 10, failures: 9, want: 5 * time.Second, counted: true},
		{attempt: 1, most: 10, failures: 10, want: 5 * time.Second},
	} {
		now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
		var task task
		task.target = Target{Settings: feedmill.DeliverySettings{Retries: c.own}, failures: c.failures}
		task.due.maxAttempts = c.most
		o := bare(nil).decide(task, &feedmill.Message{Attempt: c.attempt}, feedmill.Result{Verdict: feedmill.VerdictRetry, Responded: true, Status: http.StatusServiceUnavailable, Error: "503", RetryAfter: c.retryAfter}, now)
		state, due := feedmill.DeliveryRetrying, now.Add(c.want)
		if c.want == 0 {
			state, due = feedmill.DeliveryExhausted, time.Time{}
		}
		if o.State != state || !o.DueAt.Equal(due) || o.Failed != c.counted {
			t.Errorf("%+v: it is %s, due at %v, counted is %v", c, o.State, o.DueAt, o.Failed)
		}
	}
}

// refusingStore refuses some outcomes, and every batch that has one of them.
type refusingStore struct {
	Store
	refuses map[feedmill.ID]bool
	written []feedmill.ID
}

func (s *refusingStore) Settle(_ context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	for _, o := range outcomes {
		if s.refuses[o.Delivery] {
			return nil, errors.New("refused")
		}
	}
	for _, o := range outcomes {
		s.written = append(s.written, o.Delivery)
	}
	return nil, nil
}

// One outcome that cannot be written holds up no other, however few share its batch.
func TestARefusedOutcomeHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := 1; n <= 3; n++ {
			store := &refusingStore{refuses: map[feedmill.ID]bool{"d0": true}}
			d := bare(store)
			l := &lane{backlog: newBacklog(&d.memory)}
			var batch []settling
			for i := range n {
				id := feedmill.ID(fmt.Sprint("d", i))
				d.sending[id] = func() {}
				batch = append(batch, settling{outcome: feedmill.Outcome{Delivery: id}, lane: l})
			}
			known := func() int {
				d.mu.Lock()
				defer d.mu.Unlock()
				return len(d.sending)
			}
			d.settle(t.Context(), batch)
			if len(store.written) != n-1 || known() != 1 {
				t.Errorf("of %d outcomes %v are written, and %d deliveries are known as sent", n, store.written, known())
			}
			time.Sleep(refusedWait)
			synctest.Wait()
			if known() != 0 {
				t.Errorf("of %d outcomes %d deliveries stay known", n, known())
			}
		}
	})
}

// A lane's share is an equal part of its workspace's, which is an equal part of all;
// one that has nothing queued yet counts among those that have.
func TestSharesOfMemory(t *testing.T) {
	m := new(newMemory(120, 100))
	m.maxBytes = 12_000
	lanes := newBacklogs(m, 3)
	check := func(when string, b *backlog, workspace feedmill.ID, deliveries int) {
		t.Helper()
		if n, bytes := m.shareOf(b, workspace); n != deliveries || bytes != 100*deliveries {
			t.Errorf("%s: the share is %d deliveries and %d bytes, want %d", when, n, bytes, deliveries)
		}
	}
	queue := func(b *backlog, workspace feedmill.ID) {
		b.queue = append(b.queue, queued{})
		b.waiting++
		m.account(b, workspace, 1)
	}
	check("nobody has anything", lanes[0], "a", 120)
	queue(lanes[0], "a")
	check("it has something itself", lanes[0], "a", 120)
	check("another of its workspace has", lanes[1], "a", 60)
	check("another workspace has", lanes[1], "b", 60)
	queue(lanes[1], "a")
	check("both of a workspace have", lanes[1], "a", 60)
	check("the third of a workspace", lanes[2], "a", 40)
	check("the first of another", lanes[2], "b", 60)
	queue(lanes[2], "b")
	check("two of one and one of another", lanes[0], "a", 30)
	check("two of one and one of another", lanes[2], "b", 60)
}

// A lane that has its turn to come keeps it, whatever happens to it meanwhile.
func TestALaneKeepsItsTurn(t *testing.T) {
	d := bare(nil)
	var lanes []*lane
	for i := range 3 {
		l := &lane{id: feedmill.ID(fmt.Sprint(i)), workspace: "ws", backlog: newBacklog(&d.memory)}
		l.backlog.rest = unread
		d.refresh(l)
		lanes = append(lanes, l)
	}
	d.refresh(lanes[0])
	for i, want := range lanes {
		if got := d.ring.pop(); got != want {
			t.Errorf("turn %d is that of %v", i, got)
		}
	}
}

// TestBreakersAndHealth says how a subscription is shown, by what its lane has learnt.
func TestBreakersAndHealth(t *testing.T) {
	now := time.Now()
	open, probing := pace{opened: 1, until: now.Add(time.Hour), failure: "timeout"}, pace{opened: 2, until: now.Add(-time.Hour)}
	failing := &Target{failingSince: now}
	for name, c := range map[string]struct {
		lane    *lane
		others  bool // whether the slot is another replica's
		breaker feedmill.BreakerState
		health  string
	}{
		"no lane":              {breaker: feedmill.BreakerClosed},
		"another replica's":    {lane: &lane{state: lost, subscription: subscription{target: failing}}, others: true, breaker: feedmill.BreakerUnknown},
		"well":                 {lane: &lane{subscription: subscription{target: new(Target)}}, breaker: feedmill.BreakerClosed, health: "working"},
		"not read yet":         {lane: new(lane), breaker: feedmill.BreakerClosed},
		"failing":              {lane: &lane{subscription: subscription{target: failing}}, breaker: feedmill.BreakerClosed, health: "failing"},
		"open":                 {lane: &lane{subscription: subscription{target: failing}, pace: open}, breaker: feedmill.BreakerOpen, health: "breaker_open"},
		"probing":              {lane: &lane{subscription: subscription{target: failing}, pace: probing}, breaker: feedmill.BreakerHalfOpen, health: "breaker_open"},
		"paused":               {lane: &lane{subscription: subscription{target: &Target{state: feedmill.SubscriptionPaused}}, pace: open}, breaker: feedmill.BreakerOpen, health: "held"},
		"disabled":             {lane: &lane{subscription: subscription{target: &Target{state: feedmill.SubscriptionDisabled}}}, breaker: feedmill.BreakerClosed},
		"deleted while failed": {lane: &lane{subscription: subscription{target: &Target{deleted: true, failingSince: now}}}, breaker: feedmill.BreakerClosed},
	} {
		d := bare(nil)
		d.slots[feedmill.Slot("sub")] = !c.others
		if c.lane != nil {
			d.lanes["sub"] = c.lane
		}
		if got := d.Breaker("sub"); got != c.breaker {
			t.Errorf("%s: the breaker is %s, want %s", name, got, c.breaker)
		}
		want := map[string]int{}
		if c.health != "" {
			want[c.health] = 1
		}
		if got := d.health(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the health is %v, want %v", name, got, want)
		}
		shown := c.breaker == feedmill.BreakerOpen || c.breaker == feedmill.BreakerHalfOpen
		if all := d.OpenBreakers(); len(all) > 0 != shown || shown && (all[0].State != c.breaker || all[0].LastError != c.lane.pace.failure) {
			t.Errorf("%s: the open breakers are %+v", name, all)
		}
	}
}

// So many subscriptions are counted for in memory; when there are more, what was
// counted is to be written, and none of it is lost.
func TestCountsBeyondTheBoundAreWritten(t *testing.T) {
	tally, now := newTally(), time.Now()
	count := func(n int) {
		tally.count(feedmill.Outcome{Subscription: feedmill.ID(fmt.Sprint(n)), State: feedmill.DeliveryDelivered}, answered200, 1, now)
	}
	for n := range maxTallied {
		count(n)
	}
	if len(tally.full) != 0 || len(tally.counts) != 50_000 {
		t.Errorf("%d are counted for, and to be written is %d", len(tally.counts), len(tally.full))
	}
	count(maxTallied)
	if len(tally.full) != 1 || len(tally.counts) != 1 || tally.waiting() != maxTallied+1 {
		t.Errorf("%d are counted for, %d wait, and to be written is %d", len(tally.counts), tally.waiting(), len(tally.full))
	}
}
