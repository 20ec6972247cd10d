package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/feedmill/feedmill"
)

// pagedStore has due subscriptions in pages of a thousand.
type pagedStore struct {
	Store
	ids   []feedmill.ID
	fails error
}

func (s *pagedStore) DueSubscriptions(_ context.Context, _ []int, _ time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	i := 0
	if after != "" {
		i = slices.Index(s.ids, after) + 1
	}
	if s.fails != nil && i+limit > len(s.ids) { // at the end
		return nil, s.fails
	}
	return s.ids[i:min(i+limit, len(s.ids))], nil
}

func (s *pagedStore) SubscriptionsForDelivery(context.Context, []feedmill.ID) ([]feedmill.Subscription, error) {
	return nil, errors.New("they are read one by one")
}

func TestPollReadsEveryPage(t *testing.T) {
	for _, n := range []int{0, 1, 999, 1000, 1001, 2000, 2500} {
		s := &pagedStore{}
		for i := range n {
			s.ids = append(s.ids, feedmill.ID(fmt.Sprintf("sub_%05d", i)))
		}
		d := New(Options{Store: s, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
		all := make([]int, feedmill.Slots)
		for i := range all {
			all[i] = i
		}
		d.setSlots(all, len(all), time.Now().Add(time.Hour))
		s.fails = errors.New("broken")
		if found, err := d.pollOnce(t.Context(), seen); err == nil || found != 0 || d.polled[0] {
			t.Errorf("%d: a poll that fails is taken for done: %d found, %v", n, found, err)
		}
		s.fails = nil
		if found, err := d.pollOnce(t.Context(), seen); err != nil || found != n {
			t.Fatalf("%d: %d are found, %v", n, found, err)
		}
		if len(d.lanes) != n || !d.polled[0] {
			t.Errorf("of %d subscriptions %d are found", n, len(d.lanes))
		}
	}
}

// The more a poll finds the later is the next; but whoever waits for it is woken when
// something comes due.
func TestPollsThatFindMuchAreFewer(t *testing.T) {
	d := New(Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	for found, want := range map[int]time.Duration{0: time.Second, 600: time.Second, 2000: 3 * time.Second, 100_000: 5 * time.Second} {
		if got := d.untilPoll(found); got != want {
			t.Errorf("after one that found %d it is %v until the next poll, want %v", found, got, want)
		}
	}
	d.dueAt(time.Now().Add(4*time.Second), "sub_1")
	if len(d.dueSooner) != 1 {
		t.Error("nobody is woken although the next poll may be later")
	}
	for i := range maxDueLanes {
		d.dueAt(time.Now().Add(time.Hour+time.Duration(i)*time.Second), "sub_1")
	}
	if got := d.untilPoll(100_000); got != time.Second {
		t.Errorf("it is %v until the next poll although nothing else finds some of the retries", got)
	}
	d.PollEvery = time.Minute
	if got := d.untilPoll(100_000); got != time.Minute {
		t.Errorf("it is %v until the next poll, want what was asked for", got)
	}
}

func TestNoPollWithoutSlots(t *testing.T) {
	d := New(Options{Store: &pagedStore{fails: errors.New("it is asked")}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if _, err := d.pollOnce(t.Context(), seen); err != nil {
		t.Error(err)
	}
	d.found("sub_1", seen, time.Now())
	if len(d.lanes) != 0 {
		t.Error("there is a lane for a slot of another replica")
	}
}

func TestUntilSomethingIsDue(t *testing.T) {
	synctest.Test(t, untilSomethingIsDue)
}

func untilSomethingIsDue(t *testing.T) {
	d := New(Options{PollEvery: time.Minute, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	d.slots = allSlots()
	now := time.Now()
	poll := now.Add(time.Minute)
	if got := d.passDue(now, poll); got != time.Minute {
		t.Errorf("without anything due the next poll is in %s", got)
	}
	for _, c := range []struct {
		due, next time.Duration
		wakes     bool
	}{{2 * time.Hour, time.Minute, false}, {time.Hour, time.Minute, false}, {10 * time.Second, 10 * time.Second, true}, {20 * time.Second, 10 * time.Second, false}, {5 * time.Second, 5 * time.Second, true}} {
		d.dueAt(now.Add(c.due), "sub_1")
		if got := d.passDue(now, poll); got != c.next {
			t.Errorf("due in %s: it waits for %s, want %s", c.due, got, c.next)
		}
		if got := len(d.dueSooner) == 1; got != c.wakes {
			t.Errorf("due in %s: whoever waits is woken: %v", c.due, got)
		}
		if len(d.dueSooner) == 1 {
			<-d.dueSooner
		}
	}
}

// What comes due is looked for in its lane alone, and without a poll.
func TestWhatComesDueIsForItsLane(t *testing.T) {
	d := New(Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	d.slots = allSlots()
	now := time.Now()
	for i, id := range []feedmill.ID{"sub_1", "sub_2", "sub_3"} {
		l := d.lane(id, "ws_1")
		l.backlog.checkedAt = now
		l.backlog.retries.add(now.Add(time.Duration(i)*time.Second), l.id, maxLaneRetries)
		d.dueAt(now.Add(time.Duration(i)*time.Second), id)
		d.dueAt(now.Add(time.Duration(i)*time.Second), id) // counts once
	}
	d.passDue(now.Add(1500*time.Millisecond), now.Add(time.Minute))
	for id, want := range map[feedmill.ID]rest{"sub_1": unread, "sub_2": unread, "sub_3": allKnown} {
		if got := d.lanes[id].backlog.rest; got != want {
			t.Errorf("the rest of %s is %d, want %d", id, got, want)
		}
	}
	if len(d.due) != 1 {
		t.Errorf("%d are still to come, want 1", len(d.due))
	}
}

func allSlots() (s slotSet) {
	for i := range s {
		s[i] = true
	}
	return s
}

// Lanes keep what they have learnt, unless there are very many: then only those do
// that hold their endpoint to something, or have work.
func TestIdleLanesAreForgottenWhereThereAreMany(t *testing.T) {
	now := time.Now()
	for n, want := range map[int]int{manyLanes: manyLanes, manyLanes + 3: manyLanes, manyLanes + 20: manyLanes + 20 - 9} {
		d := New(Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
		for i := range n {
			l := d.lane(feedmill.ID(fmt.Sprint("sub_", i)), "ws_1")
			if l.usedAt = now; i < 9+4 {
				l.usedAt = now.Add(-crowdedIdleTime - 1)
			}
		}
		d.lanes["sub_0"].limiter = rate.NewLimiter(1, 1)
		d.lanes["sub_1"].pace.opened = 1
		d.lanes["sub_2"].backlog.known = map[feedmill.ID]int{deliveryID(1): 1}
		d.lanes["sub_3"].usedAt = now.Add(-crowdedIdleTime)
		if d.forgetIdle(now); len(d.lanes) != want {
			t.Errorf("of %d lanes %d are left, want %d", n, len(d.lanes), want)
		}
		for i := range 4 {
			if d.lanes[feedmill.ID(fmt.Sprint("sub_", i))] == nil {
				t.Errorf("of %d lanes number %d is forgotten", n, i)
			}
		}
	}
}
