package subscribe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// before is how a subscription is delivered to that a request then changes.
var before = feedmill.DeliverySettings{
	Timeout: time.Second, RateLimit: 7, RatePer: time.Minute, Concurrency: 7, Ordered: true,
	Retries: feedmill.RetrySchedule{time.Hour}, DisableAfter: 48 * time.Hour,
	Batch: feedmill.Batch{MaxEvents: 7, MaxWait: time.Minute},
}

// read reads the member delivery as readFields does.
func read(f strictjson.Field) deliveryFields {
	if f.Kind == 'n' {
		return defaultDelivery()
	}
	o, ok := f.Object()
	if !ok {
		return deliveryFields{}
	}
	return readDelivery(o)
}

// What is not given stays, what is null has its default, and the bounds belong to what
// may be given.
func TestDeliveryFields(t *testing.T) {
	with := func(change func(*feedmill.DeliverySettings)) feedmill.DeliverySettings {
		after := before
		change(&after)
		return after
	}
	timeout := func(d time.Duration) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.Timeout = d })
	}
	rate := func(n int, per time.Duration) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.RateLimit, s.RatePer = n, per })
	}
	concurrency := func(n int) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.Concurrency = n })
	}
	retries := func(waits ...time.Duration) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.Retries = waits })
	}
	disableAfter := func(d time.Duration) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.DisableAfter = d })
	}
	batch := func(n int, wait time.Duration) feedmill.DeliverySettings {
		return with(func(s *feedmill.DeliverySettings) { s.Batch = feedmill.Batch{MaxEvents: n, MaxWait: wait} })
	}
	for text, want := range map[string]feedmill.DeliverySettings{
		`null`: {Timeout: 15 * time.Second, Concurrency: 64},
		`{}`:   before,
		`{"timeout":null,"rateLimit":null,"concurrency":null,"ordered":null,"retrySchedule":null,"disableAfter":null,"batch":null}`: {Timeout: 15 * time.Second, Concurrency: 64},
		`{"timeout":"100ms"}`:                              timeout(100 * time.Millisecond),
		`{"timeout":"60s"}`:                                timeout(time.Minute),
		`{"rateLimit":1}`:                                  rate(1, time.Second),
		`{"rateLimit":1000000}`:                            rate(1_000_000, time.Second),
		`{"rateLimit":{"requests":1}}`:                     rate(1, time.Second),
		`{"rateLimit":{"requests":1000000,"per":"100ms"}}`: rate(1_000_000, 100*time.Millisecond),
		`{"rateLimit":{"requests":5,"per":"24h"}}`:         rate(5, 24*time.Hour),
		`{"concurrency":1}`:                                concurrency(1),
		`{"concurrency":100}`:                              concurrency(100),
		`{"ordered":false}`:                                with(func(s *feedmill.DeliverySettings) { s.Ordered = false }),
		`{"retrySchedule":["100ms","7d"]}`:                 retries(100*time.Millisecond, 7*24*time.Hour),
		`{"disableAfter":"1d"}`:                            disableAfter(24 * time.Hour),
		`{"disableAfter":"30d"}`:                           disableAfter(30 * 24 * time.Hour),
		`{"disableAfter":"off"}`:                           disableAfter(feedmill.NeverDisable),
		`{"batch":{"maxEvents":2}}`:                        batch(2, time.Second),
		`{"batch":{"maxEvents":100,"maxWait":"60s"}}`:      batch(100, time.Minute),
		`{"batch":{"maxEvents":50,"maxWait":"0s"}}`:        batch(50, 0),
		`{"batch":{"maxEvents":50,"maxWait":null}}`:        batch(50, time.Second),
		`{"batch":null}`:                                   with(func(s *feedmill.DeliverySettings) { s.Batch = feedmill.Batch{} }),
	} {
		f, faults := field(t, text)
		got := before
		if read(f).apply(&got); len(faults.List) > 0 {
			t.Errorf("%s: %+v", text, faults.List)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", text, diff)
		}
	}
}

func TestDeliveryFieldsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`"fast"`:                                          "/x",
		`{"speed":1}`:                                     "/x/speed",
		`{"timeout":"99ms"}`:                              "/x/timeout",
		`{"timeout":"60001ms"}`:                           "/x/timeout",
		`{"timeout":15}`:                                  "/x/timeout",
		`{"rateLimit":0}`:                                 "/x/rateLimit",
		`{"rateLimit":1000001}`:                           "/x/rateLimit",
		`{"rateLimit":"10/s"}`:                            "/x/rateLimit",
		`{"rateLimit":{}}`:                                "/x/rateLimit/requests",
		`{"rateLimit":{"requests":0}}`:                    "/x/rateLimit/requests",
		`{"rateLimit":{"requests":1000001}}`:              "/x/rateLimit/requests",
		`{"rateLimit":{"requests":1,"per":"99ms"}}`:       "/x/rateLimit/per",
		`{"rateLimit":{"requests":1,"per":"86400001ms"}}`: "/x/rateLimit/per",
		`{"rateLimit":{"requests":1,"every":"1s"}}`:       "/x/rateLimit/every",
		`{"concurrency":0}`:                               "/x/concurrency",
		`{"concurrency":101}`:                             "/x/concurrency",
		`{"ordered":"yes"}`:                               "/x/ordered",
		`{"retrySchedule":"5m"}`:                          "/x/retrySchedule",
		`{"retrySchedule":[]}`:                            "/x/retrySchedule",
		`{"retrySchedule":["99ms"]}`:                      "/x/retrySchedule/0",
		`{"retrySchedule":["5m","169h"]}`:                 "/x/retrySchedule/1",
		`{"disableAfter":"23h"}`:                          "/x/disableAfter",
		`{"disableAfter":"721h"}`:                         "/x/disableAfter",
		`{"disableAfter":"never"}`:                        "/x/disableAfter",
		`{"batch":50}`:                                    "/x/batch",
		`{"batch":{}}`:                                    "/x/batch/maxEvents",
		`{"batch":{"maxEvents":1}}`:                       "/x/batch/maxEvents",
		`{"batch":{"maxEvents":101}}`:                     "/x/batch/maxEvents",
		`{"batch":{"maxEvents":10,"maxWait":"60001ms"}}`:  "/x/batch/maxWait",
		`{"batch":{"maxEvents":10,"maxBytes":1}}`:         "/x/batch/maxBytes",
		`{"timeout":"0s","concurrency":0}`:                "/x/timeout /x/concurrency",
	} {
		f, faults := field(t, text)
		read(f)
		var places []string
		for _, fault := range faults.List {
			places = append(places, fault.Pointer)
		}
		if got := strings.Join(places, " "); got != want {
			t.Errorf("%s is wrong at %q, want %q", text, got, want)
		}
	}
}

// A subscription that others changed meanwhile is planned anew where what the plan
// was made of has changed, whichever part of it.
func TestSameGround(t *testing.T) {
	was := feedmill.Subscription{Destination: feedmill.Destination{Kind: "k", URL: "u", Method: "POST", Config: []byte("h")}, ResourceID: "r", Events: []string{"a"}}
	for name, change := range map[string]func(*feedmill.Subscription){
		"url":      func(s *feedmill.Subscription) { s.Destination.URL = "other" },
		"method":   func(s *feedmill.Subscription) { s.Destination.Method = "GET" },
		"resource": func(s *feedmill.Subscription) { s.ResourceID = "" },
		"events":   func(s *feedmill.Subscription) { s.Events = []string{"a", "b"} },
		"headers":  func(s *feedmill.Subscription) { s.Destination.Config = nil },
		"kind":     func(s *feedmill.Subscription) { s.Destination.Kind = "other" },
	} {
		is := was
		if change(&is); sameGround(was, is) {
			t.Errorf("another %s is not noticed", name)
		}
	}
	is := was
	is.Name, is.Failures, is.Events = "other", 3, slices.Clone(was.Events)
	if !sameGround(was, is) {
		t.Error("a change is planned anew for what it does not depend on")
	}
}

// Events of the two halves do not go together, and all that are wrong are told of.
func TestEventsOfTheSameHalf(t *testing.T) {
	missing := &feedmill.Error{Kind: feedmill.ErrConflict, Type: "missing"}
	source, other := event{name: "datafeed.source.refreshed", pointer: "/0"}, event{name: "test.ping", pointer: "/1"}
	later := event{name: "datafeed.source.refreshed", pointer: "/2", unavailable: missing}
	for _, c := range []struct {
		events []event
		source bool
		kind   string // of the refusal
		places string
	}{
		{[]event{source}, true, "", ""},
		{[]event{other}, false, "", ""},
		{[]event{source}, false, "other-half", "/0"},
		{[]event{source, other}, true, "other-half", "/1"},
		{[]event{later}, true, "missing", "/2"},
		{[]event{other, later}, true, "other-half", "/1 /2"},
		{nil, true, "", ""},
	} {
		var kind string
		var places []string
		if refusal, ok := errors.AsType[*feedmill.Error](checkSameHalf(c.events, c.source)); ok {
			kind = refusal.Type
			for _, f := range refusal.Faults {
				places = append(places, f.Pointer)
			}
		}
		if kind != c.kind || strings.Join(places, " ") != c.places {
			t.Errorf("%+v: refused as %q at %q, want %q at %q", c.events, kind, places, c.kind, c.places)
		}
	}
}
