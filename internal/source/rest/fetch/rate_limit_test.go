package fetch

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// In no window of time are there more requests than its rate allows, and none
// waits longer than it must.
func TestPaceLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &spec.Rate{Requests: rapid.IntRange(1, 20).Draw(t, "requests"), Per: time.Duration(rapid.IntRange(1, 60).Draw(t, "per")) * time.Second}
		var p paces
		now := time.Unix(1e9, 0)
		var times []time.Time
		for range rapid.IntRange(1, 100).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Millisecond)
			at := p.reserve("place", r, now)
			if n := len(times); n >= r.Requests {
				if free := times[n-r.Requests].Add(r.Per); at.Before(free) {
					t.Fatalf("%d requests within %s", r.Requests+1, r.Per)
				} else if at.After(now) && at.After(free) && at.After(times[n-1]) {
					t.Fatal("a request waits for nothing")
				}
			} else if n > 0 && at.After(now) && at.After(times[n-1]) {
				t.Fatal("a request waits although there are few")
			}
			times = append(times, at)
		}
	})
}

func TestPaceIsShared(t *testing.T) {
	now := time.Unix(1e9, 0)
	var p paces
	one, other := &spec.Rate{Requests: 2, Per: time.Second}, &spec.Rate{Requests: 1, Per: 10 * time.Second}
	p.reserve("a", one, now)
	p.reserve("a", nil, now)
	if at := p.reserve("a", one, now); at != now.Add(time.Second) {
		t.Error("a request without a rate does not count:", at.Sub(now))
	}
	if at := p.reserve("a", other, now); at != now.Add(11*time.Second) {
		t.Error("another source of the place does not count:", at.Sub(now))
	}
	if at := p.reserve("b", other, now); at != now {
		t.Error("another place counts:", at.Sub(now))
	}
}
