package api

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 3)
		take := func(subject string, refused bool, remaining string) {
			t.Helper()
			h := make(http.Header)
			err := l.count(subject, h)
			if (err != nil) != refused {
				t.Errorf("error is %v", err)
			}
			var refusal *feedmill.Error
			if refused && (!errors.As(err, &refusal) || !errors.Is(err, feedmill.ErrTooMany) || refusal.RetryAfter < time.Second/2) {
				t.Errorf("the refusal is %#v", err)
			}
			if got := h.Get("RateLimit"); got != remaining {
				t.Errorf("RateLimit is %s, want %s", got, remaining)
			}
			if got := h.Get("RateLimit-Policy"); got != `"default";q=3;w=2` {
				t.Errorf("RateLimit-Policy is %s", got)
			}
		}
		take("a", false, `"default";r=2;t=1`)
		take("a", false, `"default";r=1;t=1`)
		take("a", false, `"default";r=0;t=2`)
		take("a", true, `"default";r=0;t=2`)
		take("b", false, `"default";r=2;t=1`)
		time.Sleep(time.Second / 2)
		take("a", false, `"default";r=0;t=2`)
		take("a", true, `"default";r=0;t=2`)
		time.Sleep(time.Hour)
		take("b", false, `"default";r=2;t=1`)
		if len(l.of) != 1 {
			t.Errorf("%d counters are kept, want that of the last caller only", len(l.of))
		}
		take("a", false, `"default";r=2;t=1`)
	})
}

func TestLimiterBurst(t *testing.T) {
	for _, c := range []struct {
		perSecond   float64
		burst, want int
	}{
		{10, 0, 10},
		{0.1, 0, 1},
		{2.5, 0, 3},
		{10, 1, 1},
		{1, 20, 20},
	} {
		if got := newLimiter(c.perSecond, c.burst).burst; got != c.want {
			t.Errorf("%g a second with a burst of %d allows %d at once, want %d", c.perSecond, c.burst, got, c.want)
		}
	}
	if newLimiter(0, 5) != nil {
		t.Error("no limit is a limit")
	}
}
