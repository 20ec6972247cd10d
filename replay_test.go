package feedmill

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReplaySelections(t *testing.T) {
	want := map[ReplaySelection][]DeliveryState{
		ReplayDelivered: {DeliveryDelivered}, ReplayExhausted: {DeliveryExhausted}, ReplayDiscarded: {DeliveryDiscarded},
		ReplayUndelivered: {DeliveryExhausted, DeliveryDiscarded}, ReplayMissing: {}, ReplayAll: {},
	}
	for _, s := range ReplaySelections {
		if got := s.States(); !slices.Equal(got, want[s]) || s.OfEvents() != (len(want[s]) == 0) {
			t.Errorf("%s selects %q, of events: %v", s, got, s.OfEvents())
		}
	}
}

// What a replay makes itself lies behind its bound, also where it ends later.
func TestReplayIsBounded(t *testing.T) {
	now := time.Now()
	since, until := now.Add(-time.Hour), now.Add(time.Hour)
	for selection, prefix := range map[ReplaySelection]string{ReplayExhausted: PrefixDelivery, ReplayMissing: PrefixEvent} {
		r := NewReplay(Replay{Since: since, Until: until, Selection: selection})
		next := NewID(prefix)
		if r.Bound >= next || !strings.HasPrefix(string(r.Bound), prefix+"_") || r.State != ReplayCounting || !IsID(PrefixReplay, string(r.ID)) {
			t.Errorf("%s: %+v, before %s", selection, r, next)
		}
		if first := FirstID(prefix, since); r.First() != first || r.Counted != first {
			t.Errorf("%s begins at %s, counted from %s, want %s", selection, r.First(), r.Counted, first)
		}
		r = NewReplay(Replay{Since: since, Until: now.Add(-time.Minute), Selection: selection})
		if want := FirstID(prefix, now.Add(-time.Minute)); r.Bound != want {
			t.Errorf("%s ends at %s, want %s", selection, r.Bound, want)
		}
	}
}

func TestReplayShare(t *testing.T) {
	for _, test := range []struct {
		rate, limit, most int
		pause             time.Duration // after 10
	}{
		{0, 500, 500, 0},
		{1, 500, 1, 10 * time.Second},
		{100, 500, 20, 100 * time.Millisecond},
		{100_000, 500, 500, 100 * time.Microsecond},
	} {
		r := Replay{Rate: test.rate}
		most, pause, blocked := r.Share(test.limit), r.Pause(10, ReplayPart{}), r.Pause(10, ReplayPart{Blocked: true})
		if most != test.most || pause != test.pause || blocked != max(test.pause, time.Second) {
			t.Errorf("at %d a second: %d of %d and then %v, or %v for what is promised; want %d and %v", test.rate, most, test.limit, pause, blocked, test.most, test.pause)
		}
	}
}

func TestReplayCount(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 1, time.UTC)
	counting := Replay{State: ReplayCounting, Total: 5, Counted: "dlv_1"}
	for name, c := range map[string]struct {
		dry  bool
		part ReplayPart
		want Replay
	}{
		"more to count": {false, ReplayPart{Reached: "dlv_9"}, Replay{State: ReplayCounting, Total: 8, Counted: "dlv_9"}},
		"the end":       {false, ReplayPart{Reached: "dlv_9", End: true}, Replay{State: ReplayRunning, Total: 8}},
		"promised":      {false, ReplayPart{Reached: "dlv_9", Blocked: true}, Replay{State: ReplayRunning, Total: 8}},
		"only counted":  {true, ReplayPart{End: true}, Replay{State: ReplayDone, Total: 8, DryRun: true, EndedAt: now.Truncate(time.Millisecond)}},
	} {
		r := counting
		r.DryRun = c.dry
		if got := r.Count(3, c.part, now); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for want, r := range map[ReplayState]Replay{ReplayDone: {EndedAt: now}, ReplayRunning: {}} {
		if r.SetState(false, false); r.State != want {
			t.Errorf("the state is %s, want %s", r.State, want)
		}
		if r.SetState(true, true); r.State != ReplayCancelled {
			t.Errorf("a cancelled replay is %s", r.State)
		}
	}
	r := Replay{}
	if r.SetState(false, true); r.State != ReplayCounting {
		t.Errorf("a replay that counts is %s", r.State)
	}
}
