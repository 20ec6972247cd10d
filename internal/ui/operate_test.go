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
			"replicas":[{"name":"fm-1","state":"ready","version":"1.0.0","startedAt":%[2]q,"slots":170,"leaseAgeSeconds":0.1,"missingFiles":3},{"name":"fm-2","state":"silent","version":"1.0.1","startedAt":%[2]q,"slots":86,"leaseAgeSeconds":41}]}`,
			now.Add(-5*time.Minute).Format(time.RFC3339), now.Format(time.RFC3339)),
	}
	code, page := shownPage(answers, "/ui/operate")
	for _, want := range []string{
		"2 replicas, PostgreSQL 17.2, all workspaces", "256 slots", "pg:5432/feedmill", "19 of 48 connections", "Low", "/var/lib/feedmill", "fm-1", "missing 3 files of feeds", "1.0.1", `x="170" width="86"`, "The disk of fm-2 has", "Silent", ">1\u202f000+</td>",
		`<a href="/ui/subscriptions/sub_1">ERP &lt;bridge&gt;</a>`, "accepted <b>428</b>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page, answered %d, does not have %q", code, want)
		}
	}
}

// shownPage gets a page of a server whose API has some answers.
func shownPage(answers map[string]string, path string) (code int, page string) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answers[r.URL.Path])
	})
	w := httptest.NewRecorder()
	New(Options{API: api, Version: "1.0.0", Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// TestOperateShowsStorage has three replicas in an upgrade with a bucket that fails and a damaged file,
// and one with a folder.
func TestOperateShowsStorage(t *testing.T) {
	now := time.Now().UTC()
	at := func(ago time.Duration) string { return now.Add(-ago).Format(time.RFC3339) }
	replica := func(name, state, version string, ago time.Duration, slots int) string {
		return fmt.Sprintf(`{"name":%q,"state":%q,"version":%q,"startedAt":%q,"slots":%d,"leaseAgeSeconds":1,"cacheBytes":5200000000,"cacheMaxBytes":10000000000}`, name, state, version, at(ago), slots)
	}
	leases := `"leases":[{"name":"slots","owners":["fm-1","fm-2"],"count":256,"termSeconds":15},{"name":"refreshes","owners":[],"count":0,"termSeconds":30},{"name":"files","owners":["fm-1"],"count":1,"termSeconds":600}]`
	me := `{"meta":{},"data":{"key":"key_1","name":"ops","scopes":["admin"],"workspace":{"id":"ws_1","name":"default"},"allWorkspaces":true}}`
	answers := map[string]string{"/me": me, "/operate": fmt.Sprintf(`{"series":[{"at":%q,"scrubbedBytes":1000000,"bucket":{"requests":46,"errors":2,"p50Ms":14,"p99Ms":88,"readBytes":19000000,"writtenBytes":6000000,"cacheHits":96,"cacheMisses":4}}],
		"stores":[{"name":"records","state":"ready","latencyMs":2.1,"engine":"PostgreSQL 17.2"},{"name":"bucket","state":"failed","failedSince":%q,"engine":"S3","where":"s3://nordlicht/prod","latencyMs":14}],"breakers":[],
		"replicas":[%s,%s,%s],%s,
		"scrub":{"files":8212,"bytes":6100000000,"verifiedFiles":5297,"verifiedBytes":6040000000,"unreferencedFiles":3,"unreferencedBytes":212000000,"writingFiles":1,"damaged":[{"feedId":"df_1","firstVersion":2,"lastVersion":4,"file":"df_1/<x>.parquet","replica":"fm-2"}]}}`,
		at(5*time.Minute), at(time.Hour), replica("fm-1", "ready", "1.1.0", 14*time.Minute, 171), replica("fm-2", "ready", "1.0.4", 24*time.Hour, 85), replica("fm-3", "draining", "1.0.4", 24*time.Hour, 0), leases)}
	code, page := shownPage(answers, "/ui/operate/replicas")
	for _, want := range []string{
		"3 replicas, PostgreSQL 17.2 and S3", "Rolling upgrade from 1.0.4 to 1.1.0: 1 of 3 replicas are upgraded.", "No request is refused.", "Draining", "5.2\u202fGB of 10.0\u202fGB",
		"s3://nordlicht/prod", "The bucket does not respond", "uploads and refreshes return 503", "A stored file of feed", "versions 2 to 4", "df_1/&lt;x&gt;.parquet", "5\u202f297 of 8\u202f212",
		"6.0\u202fGB of 6.1\u202fGB", "1.0\u202fMB/s", "about 1 min", "212.0\u202fMB in 3 unreferenced files", "1 file being written", "Delivery slots", "fm-1, fm-2", "256 slots", "15 s", "Held", "Free",
		`p99 <b>88</b>`, `errors <b>2</b>`, `hits <b>96</b>`, `read <b>19</b>`, `written <b>6</b>`, `<a href="/ui/operate/replicas" aria-current="page">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page, answered %d, does not have %q", code, want)
		}
	}
	if _, page := shownPage(answers, "/ui/operate"); !strings.Contains(page, "The bucket has not responded since ") {
		t.Error("the overview does not show the outage")
	}
	answers["/operate"] = fmt.Sprintf(`{"series":[],"stores":[{"name":"disk","state":"ready","replica":"fm-1","where":"/var/lib/feedmill","freeBytes":50000000000,"totalBytes":100000000000}],"breakers":[],"replicas":[%s],%s,"scrub":{"damaged":[]}}`,
		replica("fm-1", "ready", "1.1.0", time.Minute, 256), leases)
	_, page = shownPage(answers, "/ui/operate/replicas")
	for _, want := range []string{"1 replica,", "Disks", "/var/lib/feedmill", "50.0\u202fGB of 100.0\u202fGB", "idle"} {
		if !strings.Contains(page, want) {
			t.Errorf("without a bucket the page does not have %q", want)
		}
	}
	for _, not := range []string{"Rolling upgrade", "s3://", "Cache", `class="slots"`, "Ends in"} {
		if strings.Contains(page, not) {
			t.Errorf("without a bucket the page has %q", not)
		}
	}
}

func TestUpgradesAreNoticed(t *testing.T) {
	now := time.Now()
	r := func(version, state string, ago time.Duration) client.Replica {
		return client.Replica{Version: version, State: state, StartedAt: now.Add(-ago)}
	}
	for name, c := range map[string]struct {
		replicas []client.Replica
		want     *upgradeNote
	}{
		"none":     {nil, nil},
		"one":      {[]client.Replica{r("1", "ready", 0), r("1", "ready", time.Hour)}, nil},
		"silent":   {[]client.Replica{r("2", "ready", 0), r("1", "silent", time.Hour)}, nil},
		"running":  {[]client.Replica{r("1", "ready", 9*time.Hour), r("2", "ready", time.Minute), r("2", "ready", 0)}, &upgradeNote{"1", "2", 2, 3, false}},
		"late":     {[]client.Replica{r("2", "ready", 2*time.Hour), r("1", "ready", 9*time.Hour), r("2", "ready", time.Minute)}, &upgradeNote{"1", "2", 2, 3, true}},
		"returned": {[]client.Replica{r("1", "ready", time.Minute), r("2", "draining", 2*time.Hour)}, &upgradeNote{"2", "1", 1, 2, false}},
	} {
		if got := upgradeOf(c.replicas, now); (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
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
