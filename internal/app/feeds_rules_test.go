package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/feedmill/feedmill"
)

// Feeds of all types keep the version of the rules that they were created under
// until a PATCH or an upload sets another.
func TestRulesOfFeeds(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_EGRESS_ALLOW=127.0.0.1"}})
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[{"id":1}]`)) }))
	defer source.Close()
	rules := func(id string) (n feedmill.Rules) {
		t.Helper()
		var f struct{ Rules feedmill.Rules }
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		return f.Rules
	}
	want := func(step, id string, n feedmill.Rules) {
		t.Helper()
		if got := rules(id); got != n {
			t.Errorf("%s: rules %d, want %d", step, got, n)
		}
	}
	patch := func(id, body string, status int) string {
		t.Helper()
		got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + id, body: body})
		if got.status != status {
			t.Fatalf("PATCH %s: %d: %s", body, got.status, got.body)
		}
		return got.body
	}

	upload, old := s.upload(t, "", "text/csv", "id,n\n1,2\n"), s.upload(t, "&rules=1", "text/csv", "id,n\n1,2\n")
	want("new upload", upload.ID, feedmill.RulesCurrent)
	want("upload with rules=1", old.ID, 1)
	s.sendData(t, "PUT", "/data_feeds/"+old.ID+"/data", "text/csv", "id,n\n3,4\n")
	want("next upload", old.ID, 1)
	s.sendData(t, "PUT", "/data_feeds/"+old.ID+"/data?rules=2", "text/csv", "id,n\n5,6\n")
	want("next upload with rules=2", old.ID, 2)
	s.send(t, request{method: "POST", path: "/data_feeds/" + old.ID + "/versions/1/restore"})
	want("restored version", old.ID, 1)
	patch(old.ID, `{"rules":2}`, 200)
	want("changed upload", old.ID, 2)
	patch(old.ID, `{"name":"Other"}`, 200)
	want("renamed upload", old.ID, 2)

	rest, first := s.fetched(t, "", `{"request":{"url":"`+source.URL+`"}}`), s.fetched(t, "", `{"rules":1,"request":{"url":"`+source.URL+`"}}`)
	want("new REST feed", rest.ID, feedmill.RulesCurrent)
	want("REST feed with rules 1", first.ID, 1)
	second := s.fetched(t, "&sourceOf="+first.ID, `{"response":{"types":"text"}}`)
	want("second feed of its source", second.ID, feedmill.RulesCurrent)
	patch(first.ID, `{"retry":{"maxAttempts":2}}`, 200)
	want("changed REST feed", first.ID, 1)
	patch(first.ID, `{"rules":2}`, 200)
	want("REST feed with other rules", first.ID, 2)

	query := `{"serviceName":"feeds","viewName":"` + upload.ID + `","query":{"fields":[{"field":"id"}]}}`
	var made shownFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: `{"rules":1,` + query[1:], header: [][2]string{{"Prefer", "wait=60"}}}).data(t, &made)
	want("query with rules 1", made.ID, 1)
	patch(made.ID, `{"schedule":{"every":"1h"}}`, 200)
	want("scheduled query", made.ID, 1)
	patch(made.ID, `{"rules":2}`, 200)
	want("query with other rules", made.ID, 2)

	for _, bad := range []string{`{"rules":0}`, `{"rules":3}`, `{"rules":"2"}`, `{"rules":1.5}`} {
		for _, id := range []string{upload.ID, rest.ID, made.ID} {
			var p struct{ Errors []struct{ Pointer string } }
			if err := json.Unmarshal([]byte(patch(id, bad, 400)), &p); err != nil || len(p.Errors) != 1 || p.Errors[0].Pointer != "/rules" {
				t.Errorf("%s: %+v, %v", bad, p, err)
			}
		}
	}
	for _, bad := range []string{"0", "3", "x", ""} {
		if got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&rules="+bad, "text/csv", "id\n1\n"); got.status != 400 {
			t.Errorf("rules=%s: %d %s", bad, got.status, got.body)
		}
	}
}
