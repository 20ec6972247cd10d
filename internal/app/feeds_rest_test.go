package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFeedOfAnAPI(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `{"orders":[{"id":1,"total":"12.50"},{"id":2,"total":"7.00"}]}`)
	f := s.fetched(t, "", `{"name":"Orders","request":{"url":"`+shop.URL+`/orders"}}`)
	if f.State != "ready" || f.Version != 1 || f.RowCount != 2 || f.types() != "id integer, total text" || f.Mode != "replace" || f.NextRefreshAt != nil {
		t.Errorf("%+v", f)
	}
	if got := s.read(t, f.ID, ""); got != "{\"id\":1,\"total\":\"12.50\"}\n{\"id\":2,\"total\":\"7.00\"}\n" {
		t.Error(got)
	}
	// The same again is no new version.
	f, r := s.refreshed(t, f.ID)
	if f.Version != 1 || *r.Outcome != "unchanged" || r.Version != nil || f.State != "ready" {
		t.Errorf("%+v %+v", f, r)
	}
	shop.set(200, `{"orders":[{"id":3,"total":"1.00"}]}`)
	f, r = s.refreshed(t, f.ID)
	if f.Version != 2 || *r.Outcome != "changed" || *r.Version != 2 || r.Requests != 1 || r.Pages != 1 || r.RowsIn != 1 || r.RowsStored != 1 {
		t.Errorf("%+v %+v", f, r)
	}
	want := []tracedRequest{{Method: "GET", URL: shop.URL + "/orders", Status: new(200), Rows: 1, Bytes: 36}}
	if diff := cmp.Diff(want, r.Trace); diff != "" {
		t.Errorf("the trace (-want +got):\n%s", diff)
	}
	if got := s.read(t, f.ID, "") + s.read(t, f.ID, "&version=1"); !strings.HasPrefix(got, "{\"id\":3,\"total\":\"1.00\"}\n{\"id\":1,") {
		t.Error(got)
	}
	// What fails leaves the data as it is.
	shop.set(404, "gone")
	f, r = s.refreshed(t, f.ID)
	if f.State != "failed" || f.Version != 2 || r.State != "failed" || f.LastError == nil || !strings.Contains(f.LastError.Detail, "404") {
		t.Errorf("%+v %+v", f, r)
	}
	if got := s.read(t, f.ID, ""); got != "{\"id\":3,\"total\":\"1.00\"}\n" {
		t.Error(got)
	}
}

func TestFeedOfAnAPIThatHasNothing(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"}}`)
	if f.State != "ready" || f.Version != 1 || f.RowCount != 0 || len(f.Columns) != 0 || s.read(t, f.ID, "") != "" {
		t.Errorf("%+v", f)
	}
	shop.set(200, `[{"a":1}]`)
	if f, _ = s.refreshed(t, f.ID); f.types() != "a integer" || s.read(t, f.ID, "") != "{\"a\":1}\n" {
		t.Errorf("%+v", f)
	}
}

func TestUnmodifiedDataIsNotFetchedAgain(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"a":1}]`)
	shop.etag = `"one"`
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"}}`)
	f, r := s.refreshed(t, f.ID)
	if *r.Outcome != "unchanged" || *r.Trace[0].Status != 304 || f.Version != 1 {
		t.Errorf("%+v", r)
	}
	// Read in another way it is other data, modified or not.
	var patched restFeed
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"response":{"types":"text"}}`}).data(t, &patched)
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &f)
		return f.Version == 2
	})
}

func TestRefusedCredential(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `{}`)
	shop.set(401, "no")
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"auth":{"kind":"bearer","token":"old-token-1"},"schedule":{"every":"1h"}}`)
	if f.State != "auth_required" || f.Version != 0 || f.NextRefreshAt != nil {
		t.Errorf("%+v", f)
	}
	shop.set(200, `[{"a":1}]`)
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"auth":{"kind":"bearer","token":"new-token-2"}}`}).data(t, &f)
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &f)
		return f.State == "ready"
	})
	shop.mu.Lock()
	last := shop.asked[len(shop.asked)-1].Header.Get("Authorization")
	shop.mu.Unlock()
	if last != "Bearer new-token-2" || f.NextRefreshAt == nil {
		t.Errorf("%s, %+v", last, f)
	}
	for _, path := range []string{"/data_feeds/" + f.ID, "/data_feeds", "/data_feeds/" + f.ID + "/refreshes", "/data_feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID, "/events"} {
		if got := s.send(t, request{method: "GET", path: path}); strings.Contains(got.body, "token-") {
			t.Errorf("%s shows a secret: %s", path, got.body)
		}
	}
	s.stop()
	if strings.Contains(s.log.String(), "token-") {
		t.Error("the log shows a secret")
	}
	// And nothing of it is in the files as it is.
	err := filepath.WalkDir(s.app.config.Data, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(string(data), "token-") {
			t.Errorf("%s holds a secret", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFeedsOnOneSource(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `{"orders":[{"id":1}],"customers":[{"name":"Ada"},{"name":"Max"}]}`)
	orders := s.fetched(t, "", `{"name":"Shop","request":{"url":"`+shop.URL+`"},"response":{"path":"$.orders[*]"}}`)
	customers := s.fetched(t, "&sourceOf="+orders.ID, `{"response":{"path":"$.customers[*]"}}`)
	if orders.RowCount != 1 || customers.RowCount != 2 || customers.types() != "name text" || customers.Name != "Shop" {
		t.Errorf("%+v\n%+v", orders, customers)
	}
	before := shop.requests()
	shop.set(200, `{"orders":[{"id":1},{"id":2}],"customers":[]}`)
	orders, _ = s.refreshed(t, orders.ID)
	s.send(t, request{method: "GET", path: "/data_feeds/" + customers.ID}).data(t, &customers)
	if orders.RowCount != 2 || customers.RowCount != 0 || customers.Version != 2 || shop.requests() != before+1 {
		t.Errorf("%+v\n%+v, %d requests", orders, customers, shop.requests()-before)
	}
	// The source lives for as long as one of them.
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + orders.ID})
	shop.set(200, `{"customers":[{"name":"Eva"}]}`)
	if customers, _ = s.refreshed(t, customers.ID); customers.RowCount != 1 {
		t.Errorf("%+v", customers)
	}
	if !strings.Contains(string(customers.Source), `"path":"$.customers[*]"`) || !strings.Contains(string(customers.Source), shop.URL) {
		t.Errorf("%s", customers.Source)
	}
}

func TestIncrementalFeed(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	rows := []string{`{"id":1,"v":"a","at":"2026-11-01T10:00:00Z"}`, `{"id":2,"v":"b","at":"2026-11-01T12:00:00Z"}`}
	var mu sync.Mutex
	var since []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		since = append(since, r.URL.Query().Get("since"))
		var found []string
		for _, row := range rows {
			if row[strings.Index(row, `"at":"`)+6:] >= r.URL.Query().Get("since") {
				found = append(found, row)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "[%s]", strings.Join(found, ","))
	}))
	t.Cleanup(api.Close)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"key":["id"],
		"incremental":{"cursorPath":"$.at","param":{"in":"query","name":"since"},"start":"2026-01-01T00:00:00Z","lookback":"1h"}}`)
	if f.Mode != "merge" || f.RowCount != 2 {
		t.Fatalf("%+v", f)
	}
	mu.Lock()
	rows = append(rows, `{"id":2,"v":"B","at":"2026-11-01T13:00:00Z"}`, `{"id":3,"v":"c","at":"2026-11-01T14:00:00Z"}`)
	mu.Unlock()
	f, r := s.refreshed(t, f.ID)
	if r.RowsIn != 3 || f.RowCount != 3 {
		t.Errorf("%+v %+v", f, r)
	}
	if got := s.read(t, f.ID, "&fields=id,v&sort=id"); got != "{\"id\":1,\"v\":\"a\"}\n{\"id\":2,\"v\":\"B\"}\n{\"id\":3,\"v\":\"c\"}\n" {
		t.Error(got)
	}
	f, r = s.refreshed(t, f.ID)
	if f.RowCount != 3 {
		t.Errorf("%+v %+v", f, r)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"2026-01-01T00:00:00Z", "2026-11-01T11:00:00Z", "2026-11-01T13:00:00Z"}, since); diff != "" {
		t.Errorf("asked since (-want +got):\n%s", diff)
	}
}

// TestSubscribersHearOfRefreshes is the whole way from the data of a source to
// those who subscribe to its feed.
func TestSubscribersHearOfRefreshes(t *testing.T) {
	t.Parallel()
	s, shop, to := start(t, webhooks), newShop(t, `[{"a":1}]`), newSink(t)
	f := s.fetched(t, "", `{"name":"Mine","request":{"url":"`+shop.URL+`"},"schedule":{"every":"1h"}}`)
	other := s.fetched(t, "", `{"name":"Other","request":{"url":"`+shop.URL+`"}}`)
	sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["datafeed.source.*"],"filters":{"resourceId":%q}}`, to.URL, f.ID))
	shop.set(200, `[{"a":2},{"a":3}]`)
	s.refreshed(t, other.ID)
	f, r := s.refreshed(t, f.ID)
	got := to.wait(t, 1)[0]
	var event struct {
		Type, ResourceID string
		Data             struct {
			DataFeedID, RefreshID, Outcome string
			Version, RowCount              int64
		}
	}
	if err := json.Unmarshal([]byte(got.body), &event); err != nil {
		t.Fatal(err)
	}
	if event.Type != "datafeed.source.refreshed" || event.ResourceID != f.ID || event.Data.RefreshID != r.ID || event.Data.Outcome != "changed" || event.Data.RowCount != 2 {
		t.Errorf("%s", got.body)
	}
	if got.header.Get("x-service-signature") != signature(sub.SigningSecret, got.body) || strings.Contains(got.body, "ds_") {
		t.Errorf("%v %s", got.header, got.body)
	}
	if rows := s.read(t, f.ID, fmt.Sprintf("&version=%d", event.Data.Version)); rows != "{\"a\":2}\n{\"a\":3}\n" {
		t.Error(rows)
	}
	// Whatever else happens to the feed is told as well, and of it alone.
	s.refreshed(t, f.ID)
	for _, what := range []string{"pause", "resume"} {
		if got := s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/" + what}); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	shop.set(500, "")
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"retry":{"maxAttempts":1}}`})
	s.refreshed(t, f.ID)
	shop.set(401, "")
	s.refreshed(t, f.ID)
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + f.ID})
	var types []string
	for _, a := range to.wait(t, 9) {
		if err := json.Unmarshal([]byte(a.body), &event); err != nil || event.ResourceID != f.ID {
			t.Fatalf("%v: %s", err, a.body)
		}
		types = append(types, strings.TrimPrefix(event.Type, "datafeed.source."))
	}
	slices.Sort(types) // they are under way at the same time
	want := []string{"auth_required", "deleted", "paused", "refresh_failed", "refresh_failed", "refreshed", "refreshed", "resumed", "updated"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRefreshIsCancelled(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"a":1}]`)
	shop.hold = make(chan struct{})
	defer close(shop.hold)
	var f restFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"` + shop.URL + `"}}`}).data(t, &f)
	if f.State != "refreshing" || f.LastRefresh.State != "pending" {
		t.Errorf("%+v", f)
	}
	eventually(t, func() bool { return shop.requests() == 1 })
	path := "/data_feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID
	var r restRefresh
	s.send(t, request{method: "DELETE", path: path}).data(t, &r)
	if r.State != "failed" || r.Error.Type != "/problems/cancelled" {
		t.Errorf("%+v", r)
	}
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 409 {
		t.Errorf("%d %s", got.status, got.body)
	}
	// A feed that is deleted while it is fetched leaves nothing behind.
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/refresh"})
	eventually(t, func() bool { return shop.requests() == 2 })
	if got := s.send(t, request{method: "DELETE", path: "/data_feeds/" + f.ID}); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	eventually(t, func() bool { return len(s.files(t)) == 0 })
}

func TestPreviewOfAnAPI(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"a":1,"b":"x"}]`)
	var p struct {
		shownFeed
		Rows  []map[string]any
		Trace []tracedRequest
	}
	s.send(t, request{method: "POST", path: "/data_feeds/preview?type=rest", body: `{"request":{"url":"` + shop.URL + `","query":{"api_key":"planted-secret"}}}`}).data(t, &p)
	if len(p.Rows) != 1 || p.types() != "a integer, b text" || len(p.Trace) != 1 || strings.Contains(p.Trace[0].URL, "planted") {
		t.Errorf("%+v", p)
	}
	shop.set(404, "")
	if got := s.send(t, request{method: "POST", path: "/data_feeds/preview?type=rest", body: `{"request":{"url":"` + shop.URL + `"}}`}); got.status != 422 || !strings.Contains(got.body, "404") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds"}); got.body != "[]" || len(s.files(t)) > 0 {
		t.Errorf("kept: %s %v", got.body, s.files(t))
	}
}

func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_EGRESS_ALLOW=127.0.0.1"}})
	for _, url := range []string{"http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::1]/", "http://0x7f000002/"} {
		got := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"` + url + `"}}`})
		if got.status != 400 || got.problem(t).Errors[0].place() != "pointer /request/url" {
			t.Errorf("%s: %d %s", url, got.status, got.body)
		}
	}
	got := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"http://10.0.0.1/"},"description":"\u0000","x":1}`})
	if places := got.problem(t).places(); got.status != 400 || len(places) != 3 {
		t.Errorf("%d %q", got.status, places)
	}
	// A name is judged when it is resolved.
	f := start(t, setup{env: []string{"FEEDMILL_EGRESS_PROXY="}}).fetched(t, "", `{"request":{"url":"http://localhost:9/"}}`)
	if f.State != "failed" || f.LastError.Type != "/problems/forbidden-address" {
		t.Errorf("%+v %+v", f, f.LastError)
	}
	// A redirect to one is followed as little.
	shop := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:9/", http.StatusFound))
	t.Cleanup(shop.Close)
	f = s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"retry":{"maxAttempts":1}}`)
	if f.State != "failed" || f.LastError.Type != "/problems/forbidden-address" {
		t.Errorf("%+v %+v", f, f.LastError)
	}
}

// What a refresh leaves out says on which page of the source it was, with the values as the source
// has them.
func TestRejectsOfPages(t *testing.T) {
	t.Parallel()
	pages := [][2]string{
		{`[{"id":1,"total":"1.50","paid":true,"tags":["a"]},{"id":2,"total":"2.50","paid":false}]`, `</page2>; rel="next"`},
		{`[{"id":12345678901234567890,"total":"soon","paid":true,"tags":["b",7]},{"id":4,"total":"4.50"}]`, `</page3>; rel="next"`},
		{`[{"id":5,"total":"never"}]`, ""},
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := pages[map[string]int{"/": 0, "/page2": 1, "/page3": 2}[r.URL.Path]]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Link", page[1])
		fmt.Fprint(w, page[0])
	}))
	t.Cleanup(api.Close)
	s := start(t, webhooks)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/"},"pagination":{"kind":"linkHeader"}}`)
	if f.RowCount != 5 || f.Columns[1].Name != "total" {
		t.Fatalf("%+v", f)
	}
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: `[{"id":"` + f.Columns[1].ID + `","type":"decimal","onMisfit":"reject"}]`})
	f, r := s.refreshed(t, f.ID)
	if f.RowCount != 3 {
		t.Fatalf("%+v %+v", f, r)
	}
	want := `[{"record":3,"page":2,"column":"total","value":"soon","reason":"\"soon\" is not a value of the type decimal","raw":{"id":12345678901234567890,"paid":true,"tags":["b",7],"total":"soon"}},` +
		`{"record":5,"page":3,"column":"total","value":"never","reason":"\"never\" is not a value of the type decimal","raw":{"id":5,"paid":null,"tags":null,"total":"never"}}]`
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/refreshes/" + r.ID + "/rejects"}); got.body != want {
		t.Errorf("%d %s\nwant  %s", got.status, got.body, want)
	}
}
