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

	"github.com/feedmill/feedmill"
)

// pagedStore has due subscriptions in pages of a thousand.
type pagedStore struct {
	Store
	ids   []feedmill.ID
	fails error
}

func (s *pagedStore) DueSubscriptions(_ context.Context, _ []int, _ time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	if s.fails != nil {
		return nil, s.fails
	}
	i := 0
	if after != "" {
		i = slices.Index(s.ids, after) + 1
	}
	return s.ids[i:min(i+limit, len(s.ids))], nil
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
		if err := d.pollOnce(t.Context()); err == nil || d.polled[0] {
			t.Errorf("%d: a poll that fails is taken for done: %v", n, err)
		}
		s.fails = nil
		if err := d.pollOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(d.lanes) != n || !d.polled[0] {
			t.Errorf("of %d subscriptions %d are found", n, len(d.lanes))
		}
	}
}

func TestNoPollWithoutSlots(t *testing.T) {
	d := New(Options{Store: &pagedStore{fails: errors.New("it is asked")}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err := d.pollOnce(t.Context()); err != nil {
		t.Error(err)
	}
	d.found("sub_1", false)
	if len(d.lanes) != 0 {
		t.Error("there is a lane for a slot of another replica")
	}
}

func TestUntilNextPoll(t *testing.T) {
	synctest.Test(t, untilNextPoll)
}

func untilNextPoll(t *testing.T) {
	d := New(Options{PollEvery: time.Minute, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if got := d.untilNextPoll(); got != time.Minute {
		t.Errorf("without anything due the next poll is in %s", got)
	}
	woken := func() bool {
		select {
		case <-d.pollNow:
			return true
		default:
			return false
		}
	}
	now := time.Now()
	for _, c := range []struct {
		due, next time.Duration
		wakes     bool
	}{{2 * time.Hour, time.Minute, false}, {time.Hour, time.Minute, false}, {10 * time.Second, 10 * time.Second, true}, {20 * time.Second, 10 * time.Second, false}, {-time.Second, time.Millisecond, true}} {
		d.dueAt(now.Add(c.due))
		if got := d.untilNextPoll(); got != c.next {
			t.Errorf("due in %s: the next poll is in %s, want %s", c.due, got, c.next)
		}
		if got := woken(); got != c.wakes {
			t.Errorf("due in %s: whoever polls is woken: %v", c.due, got)
		}
	}
}
