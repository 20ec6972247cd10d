package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFetchedFeedsAreAsDocumented holds answers about feeds that fetch their data
// against the document: no schema can say which requests make them.
func TestFetchedFeedsAreAsDocumented(t *testing.T) {
	t.Parallel()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `[{"id":1},{"id":2}]`)
	}))
	t.Cleanup(source.Close)
	d := readDocument(t)
	s := start(t, setup{env: []string{"FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_EGRESS_PROXY="}})
	send := func(id string, want int, method, path, body string, header ...[2]string) reply {
		t.Helper()
		q := request{method: method, path: path, body: body, header: header}
		answer := s.send(t, q)
		for _, op := range d.operations {
			if op.id != id {
				continue
			}
			if body != "" && !d.allows(op, q) {
				t.Errorf("%s: the document does not allow %v", id, q)
			}
			for _, fault := range d.faultsOfAnswer(op, answer) {
				t.Errorf("%s: %s in %s", id, fault, answer.body)
			}
		}
		if answer.status != want {
			t.Fatalf("%s: %d %s, want %d", id, answer.status, answer.body, want)
		}
		return answer
	}
	spec := fmt.Sprintf(`{"request":{"url":%q,"query":{"a":["x",1]}},"auth":{"kind":"apiKey","name":"X-Key","value":"s3cret"},"schedule":{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"}}`, source.URL)
	var f struct{ ID, State string }
	made := send("createDataFeed", 201, "POST", "/data_feeds?type=rest", spec, [2]string{"Prefer", "wait=60"})
	made.data(t, &f)
	if f.State != "ready" || made.header.Get("Preference-Applied") != "wait=60" {
		t.Errorf("%v %s", made.header, made.body)
	}
	path := "/data_feeds/" + f.ID
	all := []reply{
		made,
		send("createDataFeed", 201, "POST", "/data_feeds?type=rest&sourceOf="+f.ID, `{"name":"Second","mode":"merge","key":["id"]}`),
		send("previewDataFeed", 200, "POST", "/data_feeds/preview?type=rest", spec),
		send("changeDataFeed", 200, "PATCH", path, `{"schedule":{"every":"1h"},"retry":{"maxAttempts":2},"auth":null}`),
		send("pauseDataFeed", 200, "POST", path+"/pause", ""),
		send("resumeDataFeed", 200, "POST", path+"/resume", ""),
		send("getDataFeed", 200, "GET", path, ""),
		send("listRefreshes", 200, "GET", path+"/refreshes", ""),
	}
	location := send("refreshDataFeed", 202, "POST", path+"/refresh", "").header.Get("Location")
	events := send("getRefresh", 200, "GET", location, "", [2]string{"Accept", "text/event-stream"})
	if !strings.HasPrefix(events.body, "event: ") || !strings.Contains(events.body, "event: done\ndata: {") {
		t.Errorf("the events are %s", events.body)
	}
	whole := send("getRefresh", 200, "GET", location, "")
	if !strings.Contains(whole.body, `"trace":[{"method":"GET"`) {
		t.Errorf("there is no trace in %s", whole.body)
	}
	send("cancelRefresh", 409, "DELETE", location, "")
	for _, answer := range append(all, events, whole) {
		if strings.Contains(answer.body, "s3cret") {
			t.Errorf("the secret is in %s", answer.body)
		}
	}
}
