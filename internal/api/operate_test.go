package api

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestSeriesAreRatesOfCounters(t *testing.T) {
	reg := prometheus.NewRegistry()
	accepted := prometheus.NewCounter(prometheus.CounterOpts{Name: "feedmill_events_accepted_total"})
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "feedmill_delivery_attempts_total"}, []string{"outcome"})
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: "feedmill_deliveries_open"})
	reg.MustRegister(accepted, attempts, open)
	accepted.Add(1000) // before the first point
	var s series
	at := time.Unix(1_000_000, 0)
	if p := s.sample(reg, at); p.Accepted != 0 {
		t.Fatalf("the first point is %+v", p)
	}
	accepted.Add(120)
	attempts.WithLabelValues("delivered").Add(60)
	attempts.WithLabelValues("5xx").Add(30)
	attempts.WithLabelValues("no_answer").Add(30)
	open.Set(7)
	if p := s.sample(reg, at.Add(time.Minute)); p.Accepted != 2 || p.Delivered != 1 || p.Failed != 1 || p.Open != 7 {
		t.Errorf("the second point is %+v", p)
	}
}

func TestOperateIsOverAllReplicas(t *testing.T) {
	w := newWorld(t)
	minute := now().Truncate(seriesStep)
	first := client.OperationPoint{At: minute, Accepted: 2, Open: 5, InFlight: 1}
	w.report(t.Context(), &first)
	options := w.Options
	options.Metrics, options.Version = prometheus.NewRegistry(), "other"
	other := New(options)
	other.report(t.Context(), &client.OperationPoint{At: minute.Add(20 * time.Second), Accepted: 3, Open: 4, InFlight: 2})
	w.Auth = operators{w.workspace}
	w.dispatcher.breakers = []feedmill.OpenBreaker{{Workspace: w.workspace, Subscription: "sub_gone", State: feedmill.BreakerOpen, Since: minute, LastError: "connect: refused", ProbeAt: minute}}
	var got struct {
		Breakers []struct {
			State, LastError string
			Since            time.Time
		}
		Stores []struct {
			Name                    string
			LatencyMs, P50Ms, P99Ms *float64
		}
		Series   []client.OperationPoint
		Replicas []struct {
			Version         string
			LeaseAgeSeconds float64
		}
	}
	var body string
	ask := func() {
		t.Helper()
		a := w.do(t, "GET", "/operate", "")
		body = a.Body.String()
		got.Series, got.Replicas = nil, nil
		if err := json.Unmarshal(a.Body.Bytes(), &got); err != nil || a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	ask()
	if len(got.Series) != 1 || got.Series[0] != (client.OperationPoint{At: minute, Accepted: 5, Open: 5, InFlight: 3}) {
		t.Errorf("the series are %+v", got.Series)
	}
	if len(got.Replicas) != 2 || got.Replicas[1].Version != "other" || got.Replicas[1].LeaseAgeSeconds > processGone.Seconds() {
		t.Errorf("the replicas are %+v", got.Replicas)
	}
	if len(got.Breakers) != 1 || got.Breakers[0].State != "open" || got.Breakers[0].LastError != "connect: refused" || !got.Breakers[0].Since.Equal(minute) {
		t.Errorf("the breakers are %+v", got.Breakers)
	}
	// A ping within the process may take less than the microsecond that is shown: zero is a latency too.
	if s := got.Stores; len(s) != 1 || s[0].LatencyMs == nil || s[0].P50Ms == nil || s[0].P99Ms == nil || *s[0].LatencyMs < 0 || *s[0].P50Ms < 0 || *s[0].P99Ms < *s[0].P50Ms {
		t.Errorf("the stores are %s", body)
	}
	other.forgetProcess()
	if ask(); len(got.Replicas) != 1 || len(got.Series) != 1 {
		t.Errorf("after one has left the replicas are %+v", got.Replicas)
	}
}

// operators lets everybody in who may see how the service does.
type operators struct{ workspace feedmill.ID }

func (o operators) Authenticate(context.Context, string) (feedmill.Principal, error) {
	return feedmill.Principal{Workspace: o.workspace, Subject: "key_test", Scopes: feedmill.Scopes, AllWorkspaces: true}, nil
}

func (operators) Forget(feedmill.ID) {}
