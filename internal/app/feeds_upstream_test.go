package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Versions of queries and of REST feeds name the version of the feed that they were built
// from, and their records say when a feed upstream fails.
func TestFeedsKnowTheirUpstream(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	var broken atomic.Bool
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && r.URL.Path == "/orders" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`[{"id":"` + strings.Trim(r.URL.Path, "/") + `"}]`))
	}))
	defer source.Close()
	fetched := func(spec string) (f restFeed) {
		t.Helper()
		got := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: spec, header: [][2]string{{"Prefer", "wait=60"}}})
		if got.data(t, &f); f.State != "ready" {
			t.Fatal(got.body)
		}
		return f
	}
	up := fetched(`{"name":"Up","request":{"url":"` + source.URL + `/orders"}}`)
	query := s.queried(t, `{"name":"Query","serviceName":"feeds","viewName":"`+up.ID+`","query":{"fields":[{"field":"id"}]}}`)
	second := s.queried(t, `{"name":"Second","serviceName":"feeds","viewName":"`+query.ID+`","query":{"fields":[{"field":"id"}]}}`)
	each := fetched(`{"name":"Each","request":{"url":"` + source.URL + `/{{row.id}}/lines"},"each":{"in":{"feedId":"` + up.ID + `"},"as":"row"}}`)
	upload := s.orders(t)
	want := func(path, text string) {
		t.Helper()
		if got := s.send(t, request{method: "GET", path: path}); !strings.Contains(got.body, text) {
			t.Errorf("%s does not have %s: %s", path, text, got.body)
		}
	}
	ofUp := `"upstream":[{"id":"` + up.ID + `","version":1}]`
	for _, id := range []string{query.ID, each.ID} {
		want("/data_feeds/"+id+"/versions", ofUp)
		want("/data_feeds/"+id+"/versions/1", ofUp)
	}
	want("/data_feeds/"+second.ID+"/versions/1", `"upstream":[{"id":"`+query.ID+`","version":1}]`)
	want("/data_feeds/"+upload.ID+"/versions/1", `"upstream":[]`)
	want("/data_feeds/"+up.ID+"/versions/1", `"upstream":[]`)
	for _, id := range []string{query.ID, second.ID, each.ID} {
		if got := s.send(t, request{method: "GET", path: "/data_feeds/" + id}); strings.Contains(got.body, "upstream-") {
			t.Error(got.body)
		}
	}

	broken.Store(true)
	s.send(t, request{method: "POST", path: "/data_feeds/" + up.ID + "/refresh"})
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + up.ID}).data(t, &up)
		return up.LastError != nil
	})
	for _, id := range []string{query.ID, second.ID, each.ID} {
		want("/data_feeds/"+id, `"upstream-failing"`)
		want("/data_feeds/"+id, up.ID+" (Up)")
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + up.ID}); strings.Contains(got.body, "upstream-") {
		t.Error(got.body)
	}
}
