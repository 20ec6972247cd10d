package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What a feed must never do in silence: keep rows twice, lose them, or change by
// itself.
func TestNothingIsKeptTwice(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"v":"a","at":"2026-11-01T10:00:00Z"},{"v":"b","at":"2026-11-01T12:00:00Z"},{"v":"b","at":"2026-11-01T12:00:00Z"}]`)
	const incremental = `"incremental":{"cursorPath":"$.at","param":{"name":"since"}}`
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},`+incremental+`}`)
	if f.Mode != "append" || f.RowCount != 3 {
		t.Fatalf("%+v", f)
	}
	// The rows at the cursor come again, and one more that is the same.
	shop.set(200, `[{"v":"b","at":"2026-11-01T12:00:00Z"},{"v":"b","at":"2026-11-01T12:00:00Z"}]`)
	if f, r := s.refreshed(t, f.ID); f.RowCount != 3 || *r.Outcome != "unchanged" {
		t.Errorf("%+v %+v", f, r)
	}
	shop.set(200, `[{"v":"b","at":"2026-11-01T12:00:00Z"},{"v":"b","at":"2026-11-01T12:00:00Z"},{"v":"b","at":"2026-11-01T12:00:00Z"},{"v":"c","at":"2026-11-01T13:00:00Z"}]`)
	if f, _ := s.refreshed(t, f.ID); f.RowCount != 5 {
		t.Errorf("%+v", f)
	}
	// A cursor that no record has fails the refresh.
	shop.set(200, `[{"v":"d","at":null},{"v":"e"}]`)
	f, _ = s.refreshed(t, f.ID)
	if f.State != "failed" || f.RowCount != 5 || f.LastError.Type != "/problems/no-cursor" {
		t.Errorf("%+v %+v", f, f.LastError)
	}
	shop.set(200, `[]`)
	if f, _ = s.refreshed(t, f.ID); f.State != "ready" || f.RowCount != 5 {
		t.Errorf("%+v", f)
	}
}

func TestTheSameIsNoNewVersion(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1,"a":1,"b":1},{"id":2,"a":2,"b":2}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"mode":"merge","key":["id"]}`)
	for _, test := range []struct {
		name, body string
		version    int64
	}{
		{"in another order", `[{"id":2,"a":2,"b":2},{"id":1,"a":1,"b":1}]`, 1},
		{"without a column", `[{"id":2,"a":2}]`, 2},
		{"without it again", `[{"id":2,"a":2}]`, 2},
	} {
		shop.set(200, test.body)
		if f, r := s.refreshed(t, f.ID); f.Version != test.version || f.State != "ready" {
			t.Errorf("%s: %+v %+v", test.name, f, r)
		}
	}
}

func TestNoDataIsNotNoRows(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `{"data":{"items":[{"id":1}]}}`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.data.items[*]"},"errors":[{"status":[404],"action":"ignore"}]}`)
	shop.set(200, `{"data":{"itmes":[{"id":1}]}}`)
	f, _ = s.refreshed(t, f.ID)
	if f.State != "failed" || f.RowCount != 1 || f.LastError.Type != "/problems/missing-path" || !strings.Contains(f.LastError.Detail, "items") {
		t.Errorf("%+v %+v", f, f.LastError)
	}
	shop.set(404, `{"message":"moved"}`)
	if f, _ = s.refreshed(t, f.ID); f.State != "failed" || f.RowCount != 1 || f.LastError.Type != "/problems/all-ignored" {
		t.Errorf("%+v %+v", f, f.LastError)
	}
	shop.set(200, `{"data":{"items":[]}}`)
	if f, _ = s.refreshed(t, f.ID); f.State != "ready" || f.RowCount != 0 {
		t.Errorf("%+v", f)
	}
	shop.set(200, `{"data":{}}`)
	empty := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.data.items[*]","missing":"empty"}}`)
	if empty.State != "ready" || empty.RowCount != 0 {
		t.Errorf("%+v", empty)
	}
	shop.set(200, `{"data":[],"total":0}`)
	if empty = s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"}}`); empty.State != "ready" || empty.RowCount != 0 {
		t.Errorf("%+v %s", empty, s.read(t, empty.ID, ""))
	}
	shop.set(200, `{"id":7,"name":"Ada","city":"London","tags":[]}`)
	if one := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"}}`); one.RowCount != 1 {
		t.Errorf("%+v", one)
	}
}

// JSON that is none is asked for once more.
func TestGarbledAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1},{]}`)
	shop.hold = make(chan struct{})
	made := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"` + shop.URL + `"}}`})
	var f restFeed
	made.data(t, &f)
	eventually(t, func() bool { return shop.requests() == 1 })
	shop.mu.Lock()
	hold := shop.hold
	shop.hold, shop.body = nil, `[{"id":1},{"id":2}]`
	shop.mu.Unlock()
	close(hold) // The first answer is the one that was asked for before.
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &f)
		return f.State != "refreshing"
	})
	if f.State != "ready" || f.RowCount != 2 || f.LastRefresh.Requests != 2 || f.LastRefresh.RowsIn != 2 {
		t.Errorf("%+v %+v", f, f.LastError)
	}
}

// The source's own words are where somebody looks who has to mend it, and in no
// event.
func TestTheSourceIsQuoted(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1}]`)
	spec := fmt.Sprintf(`{"request":{"method":"POST","url":%q,"body":{"kind":"json","value":{"q":1}}},"auth":{"kind":"bearer","token":"s3cret-1"}}`, shop.URL+"/rows")
	f := s.fetched(t, "", spec)
	shop.set(403, `{"message":"not for s3cret-1, says the source"}`)
	f, r := s.refreshed(t, f.ID)
	if f.State != "failed" {
		t.Errorf("after the first 403 the feed is %s", f.State)
	}
	said := `"source":{"status":403,"request":{"method":"POST","url":"` + shop.URL + `/rows","headers":["Accept","Accept-Encoding","Authorization","Content-Type","User-Agent"],"body":"{\"q\":1}"},"excerpt":"{\"message\":\"not for ***, says the source\"}"}`
	for _, path := range []string{"/data_feeds/" + f.ID, "/data_feeds/" + f.ID + "/refreshes"} {
		if got := s.send(t, request{method: "GET", path: path}); !strings.Contains(got.body, said) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/refreshes/" + r.ID}); !strings.Contains(got.body, `"excerpt":"{\"message\":\"not for ***`) {
		t.Errorf("%s", got.body)
	}
	if f, _ = s.refreshed(t, f.ID); f.State != "auth_required" {
		t.Errorf("after the second 403 the feed is %s", f.State)
	}
	if got := s.send(t, request{method: "GET", path: "/events"}); strings.Contains(got.body, "says the source") {
		t.Errorf("an event has it: %s", got.body)
	}
	got := s.send(t, request{method: "POST", path: "/data_feeds/preview?type=rest", body: spec})
	var problem struct {
		Source struct{ Excerpt string }
		Trace  []tracedRequest
	}
	if err := json.Unmarshal([]byte(got.body), &problem); err != nil || got.status != 422 || !strings.Contains(problem.Source.Excerpt, "says the source") || len(problem.Trace) != 1 {
		t.Errorf("%d %s %v", got.status, got.body, err)
	}
	if strings.Contains(got.body, "s3cret") {
		t.Errorf("the preview shows a secret: %s", got.body)
	}
}

func TestCancelledRefreshHasItsTrace(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`/slow"}}`)
	shop.mu.Lock()
	shop.hold = make(chan struct{})
	shop.mu.Unlock()
	before := shop.requests()
	var r restRefresh
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/refresh"}).data(t, &r)
	eventually(t, func() bool { return shop.requests() > before })
	path := "/data_feeds/" + f.ID + "/refreshes/" + r.ID
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: path}).data(t, &r)
		return len(r.Trace) == 1
	})
	if !strings.HasSuffix(r.Trace[0].URL, "/slow") || r.Trace[0].Error == nil {
		t.Errorf("%+v", r.Trace)
	}
}
