package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// disablingCases is when a subscription to which nothing gets through is warned
// and disabled. Times are how long ago something was; zero means never. The
// attempt of the case comes after the failures.
var disablingCases = []struct {
	name                     string
	failing, success, warned time.Duration
	failures                 int
	after                    time.Duration // of the settings
	result                   feedmill.Result
	disabled                 string
	warns                    bool
}{
	{name: "new"},
	{name: "merely quiet for months", success: 90 * day},
	{name: "a moment before the warning", failing: 4*day - time.Millisecond, failures: 99},
	{name: "four days without a success", failing: 4 * day, failures: 99, warns: true},
	{name: "a moment before the end", failing: 5*day - time.Millisecond, failures: 99, warns: true},
	{name: "five days without a success", failing: 5 * day, failures: 9, disabled: "failing"},
	{name: "five days and nine failures", failing: 5 * day, failures: 8, warns: true},
	{name: "much later", failing: 90 * day, failures: 99, disabled: "failing"},
	{name: "warned already", failing: 5*day - time.Millisecond, failures: 99, warned: day - time.Minute},
	{name: "five days and warned", failing: 5 * day, failures: 99, warned: day, disabled: "failing"},
	{name: "a success in time", failing: 5 * day, failures: 99, warned: day, result: answered200},
	{name: "a success right after another, and a warning", failing: 9 * day, success: 30 * time.Second, warned: 10 * time.Second, result: answered200},
	{name: "a success right after another, and a failure", failing: 9 * time.Second, failures: 1, success: 30 * time.Second, result: answered200},
	{name: "gone", result: answered410, disabled: "gone"},
	{name: "gone after five days", failing: 5 * day, failures: 99, result: answered410, disabled: "gone"},
	{name: "what cannot be sent", failing: 5 * day, failures: 99, result: feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "too long", NotSent: true}},
	{name: "what the policy forbids", failing: 5 * day, failures: 99, result: feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "forbidden"}},
	{name: "no answer", failing: 5 * day, failures: 99, result: noAnswer("timeout"), disabled: "failing"},
	{name: "a day is enough for it", failing: day, failures: 9, after: day, disabled: "failing"},
	{name: "it has thirty days", failing: 29*day - time.Second, failures: 99, after: 30 * day},
	{name: "warned on the last of thirty days", failing: 29 * day, failures: 99, after: 30 * day, warns: true},
	{name: "never", failing: 90 * day, failures: 99, after: feedmill.NeverDisable},
}

const day = 24 * time.Hour

func TestDisabling(t *testing.T) {
	var mu sync.Mutex
	told := make(map[string]int)
	to := func(_ context.Context, t feedmill.Subscription, m feedmill.Message) feedmill.Result {
		u, _ := url.Parse(t.Destination.URL)
		var i int
		if _, err := fmt.Sscanf(u.Path, "/%d", &i); err != nil { // who is told of the others
			var event struct {
				Type, ResourceID string
				Data             struct{ SubscriptionID, Reason string }
			}
			if json.Unmarshal(m.Payload, &event) == nil && event.ResourceID == event.Data.SubscriptionID {
				mu.Lock()
				told[event.Type+" "+event.ResourceID+" "+event.Data.Reason]++
				mu.Unlock()
			}
			return answered200
		}
		if r := disablingCases[i].result; r.Status != 0 || r.Error != "" {
			return r
		}
		return answered500
	}
	runDispatcher(t, Options{PollEvery: time.Hour}, to, func(h *harness) {
		now := time.Now()
		ago := func(d time.Duration) time.Time {
			if d == 0 {
				return time.Time{}
			}
			return now.Add(-d)
		}
		h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.Events = []string{"subscription.*"} })
		subs := make([]feedmill.ID, len(disablingCases))
		for i, c := range disablingCases {
			subs[i] = h.subscribe(feedmill.DeliverySettings{DisableAfter: c.after}, func(s *feedmill.Subscription) {
				s.Destination.URL = fmt.Sprint("https://example.com/", i)
				s.CreatedAt, s.LastSuccessAt, s.WarnedAt = ago(90*day), ago(c.success), ago(c.warned)
				s.FailingSince, s.Failures = ago(c.failing), c.failures
			})
		}
		h.dispatcher.Offer(h.accept(1, ""))
		synctest.Wait()
		notices := 0
		for i, c := range disablingCases {
			s := h.subscription(subs[i])
			if disabled := s.State == feedmill.SubscriptionDisabled; disabled != (c.disabled != "") || s.DisabledReason != c.disabled {
				h.Errorf("%s: the subscription is %s because %q, want %q", c.name, s.State, s.DisabledReason, c.disabled)
			}
			success, warned := ago(c.success), ago(c.warned)
			switch {
			case c.result.Delivered():
				success, warned = now, time.Time{}
			case c.warns:
				warned = now
			}
			if !s.LastSuccessAt.Equal(success) || !s.WarnedAt.Equal(warned) {
				h.Errorf("%s: the last success is %v and the warning %v, want %v and %v", c.name, s.LastSuccessAt, s.WarnedAt, success, warned)
			}
			for event, want := range map[string]bool{
				"subscription.disabled " + string(subs[i]) + " " + c.disabled: c.disabled != "",
				"subscription.disabling_soon " + string(subs[i]) + " failing": c.warns,
			} {
				if told[event] > 1 || told[event] == 1 != want {
					h.Errorf("%s: %s was told %d times, want it told: %v", c.name, event, told[event], want)
				}
				notices += told[event]
			}
		}
		if total := len(told); total != notices {
			h.Errorf("%d notices were told, of which %d are of the cases: %v", total, notices, told)
		}
	})
}

// One that is warned is not warned again, whatever the store would make of it.
func TestWarnedOnce(t *testing.T) {
	now := time.Now()
	for _, warned := range []bool{false, true} {
		var o feedmill.Outcome
		new(Dispatcher).judge(&o, Target{failingSince: now.Add(-4 * day), warned: warned}, now)
		if o.Warn == warned || (o.Notice == nil) != warned || o.Disable != "" {
			t.Errorf("warned %v: %+v", warned, o)
		}
	}
}

// A success is written once in a minute, which is enough for days.
func TestSuccessesAreNotedOnceAMinute(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		began := time.Now()
		noted := time.Duration(0)
		for _, at := range []time.Duration{0, 30 * time.Second, time.Minute, time.Minute + time.Millisecond, 90 * time.Second, 2*time.Minute + 2*time.Millisecond} {
			time.Sleep(time.Until(began.Add(at)))
			h.dispatcher.Offer(h.accept(1, ""))
			synctest.Wait()
			if at > noted+time.Minute {
				noted = at
			}
			if got := h.subscription(sub).LastSuccessAt.Sub(began); got != noted {
				h.Errorf("after %s the last success is noted at %s, want %s", at, got, noted)
			}
		}
	})
}

// A subscription's own waits count instead of the service's.
func TestOwnSchedule(t *testing.T) {
	failing := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result { return answered500 }
	runDispatcher(t, Options{Random: func() float64 { return 0.5 }, PollEvery: day}, failing, func(h *harness) {
		own := feedmill.RetrySchedule{time.Minute, time.Hour}
		h.subscribe(feedmill.DeliverySettings{Retries: own})
		due := h.accept(1, "")
		h.dispatcher.Offer(due)
		time.Sleep(day)
		sent := h.attempts()
		if len(sent) != 3 {
			h.Fatalf("%d attempts were made, want 3", len(sent))
		}
		for i, wait := range own {
			if late := sent[i+1].began.Sub(sent[i].began) - wait; late < 0 || late > 10*time.Millisecond {
				h.Errorf("attempt %d came %s after it was due", i+2, late)
			}
		}
		if d := h.delivery(due[0].ID); d.State != feedmill.DeliveryExhausted || d.Reason != "all 3 attempts failed" {
			h.Errorf("the delivery is %+v", d)
		}
	})
}

// TestEveryAttemptOfASchedule lets an endpoint fail until no attempt is left.
func TestEveryAttemptOfASchedule(t *testing.T) {
	failing := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result { return answered500 }
	runDispatcher(t, Options{Random: func() float64 { return 0.75 }, PollEvery: day}, failing, func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(1, "")
		h.dispatcher.Offer(due)
		time.Sleep(4*day - time.Second)
		sent := h.attempts()
		if len(sent) != 10 {
			h.Fatalf("%d attempts were made", len(sent))
		}
		for i, step := range feedmill.DefaultRetrySchedule {
			wait := step + step/10
			if late := sent[i+1].began.Sub(sent[i].began) - wait; late < 0 || late > 10*time.Millisecond {
				h.Errorf("attempt %d came %s after it was due", i+2, late)
			}
		}
		d := h.delivery(due[0].ID)
		if d.State != feedmill.DeliveryExhausted || d.Reason != "all 10 attempts failed" || d.Attempts != 10 {
			h.Errorf("the delivery is %+v", d)
		}
	})
}

// Deliveries that fail together are not tried again together.
func TestWaitsAreSpread(t *testing.T) {
	failing := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result { return answered500 }
	runDispatcher(t, Options{PollEvery: time.Hour}, failing, func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(200, "")
		began := time.Now()
		h.dispatcher.Offer(due)
		synctest.Wait()
		fifths := make([]int, 5) // of what the spread may be
		for _, d := range due {
			wait := h.delivery(d.ID).DueAt.Sub(began)
			if wait < 4*time.Second || wait >= 6*time.Second {
				h.Fatalf("a delivery waits for %s, want 5 s and a fifth to either side", wait)
			}
			fifths[(wait-4*time.Second)*5/(2*time.Second)]++
		}
		for _, n := range fifths { // one is empty once in 10^18 times
			if n == 0 {
				h.Errorf("the waits are spread as %v", fifths)
			}
		}
	})
}
