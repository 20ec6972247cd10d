package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// What breaker a subscription has that another replica sends to is known by that one's reports.
func TestBreakersOfOtherReplicas(t *testing.T) {
	w := newWorld(t)
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["metric.*"]}`)
	breaker := func() string {
		t.Helper()
		var got struct {
			Data struct {
				Health struct{ Breaker string } `json:"health"`
			} `json:"data"`
		}
		must(t, json.Unmarshal(w.do(t, "GET", "/events/subscriptions/"+string(sub), "").Body.Bytes(), &got))
		return got.Data.Health.Breaker
	}
	report := func(name string, at time.Time, breakers ...feedmill.OpenBreaker) {
		t.Helper()
		text, err := json.Marshal(processState{Name: name, Breakers: breakers})
		must(t, err)
		must(t, w.db.ReportProcess(t.Context(), feedmill.ProcessReport{Process: name, At: at, Text: text}, nil))
	}
	open := feedmill.OpenBreaker{Subscription: sub, State: feedmill.BreakerOpen}
	many := make([]feedmill.OpenBreaker, maxReportedBreakers)
	w.dispatcher.breaker = feedmill.BreakerUnknown
	for _, c := range []struct {
		name string
		said func()
		want string
	}{
		{"nobody is there", func() {}, "unknown"},
		{"one that is gone", func() { report("gone", now().Add(-2*processGone), open) }, "unknown"},
		{"one that tells of none", func() { report("two", now()) }, "closed"},
		{"one that tells of it", func() { report("three", now(), open) }, "open"},
		{"one that may not tell of all", func() { report("three", now(), many...) }, "unknown"},
	} {
		c.said()
		if got := breaker(); got != c.want {
			t.Errorf("%s: the breaker is %q, want %q", c.name, got, c.want)
		}
	}
	report("three", now(), open)
	if got := w.do(t, "GET", "/events/subscriptions?counts=trouble", "").Header().Get("X-Counts"); got != "failing=1" {
		t.Errorf("the troubles are %q", got)
	}
	w.dispatcher.breaker = feedmill.BreakerHalfOpen
	if got := breaker(); got != "halfOpen" {
		t.Errorf("what this one knows itself is %q", got)
	}
}
