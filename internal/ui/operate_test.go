package ui

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestOperateShowsAllReplicas has two replicas, of which one is silent and knows of a breaker.
func TestOperateShowsAllReplicas(t *testing.T) {
	now := time.Now().UTC()
	answers := map[string]string{
		"/me": `{"meta":{},"data":{"key":"key_1","name":"ops","scopes":["admin"],"workspace":{"id":"ws_1","name":"default"},"allWorkspaces":true}}`,
		"/operate": fmt.Sprintf(`{"series":[{"at":%q,"accepted":428}],"stores":[{"name":"records","state":"ready","latencyMs":2.1,"engine":"PostgreSQL 17.2","where":"pg:5432/feedmill","connections":19,"maxConnections":48},{"name":"disk","state":"ready","replica":"fm-2","where":"/var/lib/feedmill","freeBytes":3000000000,"totalBytes":100000000000}],
			"breakers":[{"subscriptionId":"sub_1","workspaceId":"ws_1","name":"ERP <bridge>","state":"open","probeAt":%q,"held":1000,"heldAtLeast":true}],
			"replicas":[{"name":"fm-1","version":"1.0.0","startedAt":%[2]q,"slots":170,"leaseAgeSeconds":0.1,"missingFiles":3},{"name":"fm-2","version":"1.0.1","startedAt":%[2]q,"slots":86,"leaseAgeSeconds":41}]}`,
			now.Add(-5*time.Minute).Format(time.RFC3339), now.Format(time.RFC3339)),
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answers[r.URL.Path])
	})
	w := httptest.NewRecorder()
	New(Options{API: api, Version: "1.0.0", Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ui/operate", nil))
	page := w.Body.String()
	for _, want := range []string{
		"2 replicas, PostgreSQL 17.2, all workspaces", "256 slots", "pg:5432/feedmill", "19 of 48 connections", "Low", "/var/lib/feedmill", "fm-1", "missing 3 files of feeds", "1.0.1", `x="170" width="86"`, "The disk of fm-2 has", "Silent", ">1\u202f000+</td>",
		`<a href="/ui/subscriptions/sub_1">ERP &lt;bridge&gt;</a>`, "accepted <b>428</b>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page, answered %d, does not have %q", w.Code, want)
		}
	}
}

// TestOperatePlotsKeepGaps has a service that stood still: its plots have the whole time, and
// nothing in the time of which nothing is known.
func TestOperatePlotsKeepGaps(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC)
	var points []client.OperationPoint
	for _, minutes := range []int{90, 50, 49, 2, 1} {
		points = append(points, client.OperationPoint{At: now.Truncate(time.Minute).Add(-time.Duration(minutes) * time.Minute), Open: float64(minutes)})
	}
	p := operatePlots(points, time.Hour, time.Minute, now)[3]
	if n := len(p.At); n != 59 || !p.At[0].Equal(now.Truncate(time.Minute).Add(-59*time.Minute)) {
		t.Fatalf("%d points from %v", n, p.At[0])
	}
	values := p.Series[0].Values
	if values[9] != 50 || values[10] != 49 || !math.IsNaN(values[11]) || values[58] != 1 {
		t.Errorf("the values are %v", values)
	}
	line := p.Series[0].path(func(y float64) float64 { return y })
	if strings.Count(line, "M") != 2 || strings.Contains(line, "NaN") || strings.Contains(string(p.SVG()), "NaN") {
		t.Errorf("the line is %s", line)
	}
	if top := p.Ticks()[0]; top != "60" {
		t.Errorf("the axis ends at %s", top)
	}
}
