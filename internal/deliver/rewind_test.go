package deliver

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// stepped is a time as a clock tells it that was set forward by so many seconds,
// or back. The time that never steps stays in it.
func stepped(t time.Time, seconds int64) time.Time {
	// The seconds of the wall clock stand above 30 bits of nanoseconds.
	*(*uint64)(unsafe.Pointer(&t)) += uint64(seconds << 30)
	return t
}

func TestSetBack(t *testing.T) {
	at := time.Now()
	if later := stepped(at, 5); !later.Round(0).Equal(at.Round(0).Add(5*time.Second)) || later.Sub(at) != 0 {
		t.Fatalf("a clock cannot be stepped like this any more: %v, %v", at, later)
	}
	for _, c := range []struct {
		name     string
		from, to time.Time
		want     bool
	}{
		{"never polled", time.Time{}, stepped(at, -60), false},
		{"no step", at, at.Add(time.Hour), false},
		{"set forward", at, stepped(at.Add(time.Second), 3600), false},
		{"set back", at, stepped(at.Add(time.Minute), -3600), true},
		{"set back by a second", at, stepped(at.Add(time.Minute), -1), true},
	} {
		if got := setBack(c.from, c.to); got != c.want {
			t.Errorf("%s: it was set back is %v", c.name, got)
		}
	}
}

// A retry of a clock that was an hour ahead does not wait for that hour, once
// its slot is taken over.
func TestRetriesOfAnotherClock(t *testing.T) {
	runDispatcher(t, Options{PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(1, "")[0]
		ahead := time.Now().Add(time.Hour)
		_, err := h.store.DB.Settle(h.Context(), []feedmill.Outcome{{
			Workspace: h.ws, Subscription: sub, Delivery: due.ID, Seq: due.Seq, State: feedmill.DeliveryRetrying, At: ahead, DueAt: ahead.Add(5 * time.Second),
			Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: due.ID, Number: 1, At: ahead, Status: 500},
		}})
		h.must(err)
		rewinds := h.store.rewinds.Load()
		h.dispatcher.Wake()
		synctest.Wait()
		if n := h.store.rewinds.Load(); n != rewinds {
			h.Errorf("times are put right %d times although no slot was taken", n-rewinds)
		}
		h.loseSlots()
		h.dispatcher.lease(h.Context())
		synctest.Wait()
		if got := h.delivery(due.ID).DueAt.Sub(time.Now().Truncate(time.Millisecond)); got != 5*time.Second || h.store.rewinds.Load() != rewinds+1 {
			h.Errorf("it is due in %s, after %d were put right", got, h.store.rewinds.Load()-rewinds)
		}
		time.Sleep(6 * time.Second)
		h.dispatcher.Wake()
		synctest.Wait()
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d attempts were made", n)
		}
		if n := h.store.rewinds.Load(); n != rewinds+1 {
			h.Errorf("times were put right %d times, want once", n-rewinds)
		}
	})
}

// failingRewinds goes through three steps and fails before each of them.
type failingRewinds struct {
	Store
	after []int64 // where each call began
}

func (s *failingRewinds) Rewind(_ context.Context, _ []int, _ time.Time, after feedmill.RetryPosition, _ int) (feedmill.RetryPosition, bool, error) {
	if s.after = append(s.after, after.Seq); len(s.after)%2 == 1 {
		return feedmill.RetryPosition{}, false, feedmill.ErrUnavailable
	}
	after.Seq++
	return after, after.Seq < 3 && len(s.after) < 20, nil
}

// A step that fails is made again, and not those before it.
func TestRewindingKeepsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(failingRewinds)
		d := New(Options{Store: s, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
		d.rewind(t.Context(), []int{1})
		if want := []int64{0, 0, 1, 1, 2, 2}; !slices.Equal(s.after, want) {
			t.Errorf("the steps began at %v, want %v", s.after, want)
		}
	})
}
