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
		most, pause := Replay{Rate: test.rate}.Share(test.limit)
		if most != test.most || pause(10) != test.pause {
			t.Errorf("at %d a second: %d of %d and then %v, want %d and %v", test.rate, most, test.limit, pause(10), test.most, test.pause)
		}
	}
}
