package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ledger is a source of records that change and are deleted: two records a page, those since
// a number, and a list of the ids that were deleted since.
type ledger struct {
	*httptest.Server
	mu      sync.Mutex
	records []string // by the number of their last change
	at      []int
	removed string
	// broken is the page that fails with a status, and body what a page is instead.
	broken, status int
	body           string
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := new(ledger)
	l.Server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

func (l *ledger) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since, _ := strconv.Atoi(r.URL.Query().Get("since"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	w.Header().Set("Content-Type", "application/json")
	if l.status != 0 && page == l.broken {
		w.WriteHeader(l.status)
		return
	}
	if l.body != "" {
		fmt.Fprint(w, l.body)
		return
	}
	var due []string
	for i, record := range l.records {
		if l.at[i] >= since {
			due = append(due, record)
		}
	}
	from := min((max(page, 1)-1)*2, len(due))
	fmt.Fprintf(w, `{"items":[%s],"removed":[%s]}`, strings.Join(due[from:min(from+2, len(due))], ","), l.removed)
}

// set gives the ledger records, each with the number of its last change.
func (l *ledger) set(records ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.at, l.removed, l.status, l.body = nil, nil, "", 0, ""
	for _, record := range records {
		var at int
		_, _ = fmt.Sscanf(record[strings.Index(record, `"at":`)+5:], "%d", &at)
		l.records, l.at = append(l.records, record), append(l.at, at)
	}
}

func (l *ledger) change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *ledger) spec(more string) string {
	return `{"request":{"url":"` + l.URL + `"},"response":{"path":"$.items[*]"},"pagination":{"kind":"page"},"retry":{"maxAttempts":1},
		"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"0"},"mode":"merge","key":["id"]` + more + `}`
}

// ids are the ids of the rows of a feed, as they are stored.
func (s *service) ids(t *testing.T, feed string) string {
	t.Helper()
	return strings.Join(strings.FieldsFunc(s.read(t, feed, "&fields=id"), func(r rune) bool { return r < '0' || r > '9' }), " ")
}

// Records that are flagged delete their rows, also where a page has no others: it is not the
// last page. The version, its changes and its columns are those of the rows that are left.
func TestFlaggedRecordsDelete(t *testing.T) {
	t.Parallel()
	s, l := start(t, webhooks), newLedger(t)
	l.set(`{"id":1,"at":1,"n":"a"}`, `{"id":2,"at":2,"n":"b"}`, `{"id":3,"at":3,"n":"c"}`)
	f := s.fetched(t, "", l.spec(`,"deleted":{"flag":"$.gone"}`))
	other := s.fetched(t, "", l.spec(`,"deleted":{"flag":"state","equals":"void"}`))
	columns := fmt.Sprint(f.Columns)
	l.set(`{"id":1,"at":4,"gone":true,"why":"x","state":"void"}`, `{"id":3,"at":5,"gone":true,"state":"void"}`, `{"id":9,"at":5,"gone":true,"state":"void"}`,
		`{"id":4,"at":6,"n":"d"}`, `{"id":4,"at":7,"gone":true,"state":"void"}`, `{"id":3,"at":8,"n":"again"}`)
	f, r := s.refreshed(t, f.ID)
	if got := s.read(t, f.ID, ""); got != "{\"id\":2,\"at\":2,\"n\":\"b\"}\n{\"id\":3,\"at\":8,\"n\":\"again\"}\n" {
		t.Errorf("%+v\n%s", f.LastError, got)
	}
	if got := fmt.Sprint(f.Columns); got != columns {
		t.Errorf("%s\n%s", got, columns)
	}
	if got := s.versions(t, f.ID); got != "2: 2 +0 ~1 -1, 1: 3 +3 ~0 -0" {
		t.Error(got)
	}
	if got := s.changes(t, f.ID, "from=1&to=2&fields=_change,id"); got != "{\"_change\":\"delete\",\"id\":1}\n{\"_change\":\"update\",\"id\":3}\n" {
		t.Error(got)
	}
	// Four of the six records mark deletions, and one row is deleted behind itself.
	if c := s.lastCounts(t, f.ID); r.RowsIn != 2 || r.RowsStored != 1 || c.RowsSuperseded != 1 || c.RowsRejected+c.RowsKnown != 0 {
		t.Errorf("%+v %+v", r, c)
	}
	if s.refreshed(t, other.ID); s.ids(t, other.ID) != "2 3" {
		t.Error(s.ids(t, other.ID))
	}
	// Only deletions, and those of rows that are not there.
	l.set(`{"id":2,"at":9,"gone":true}`, `{"id":77,"at":9,"gone":true}`)
	if f, r = s.refreshed(t, f.ID); s.ids(t, f.ID) != "3" || r.RowsIn != 0 || len(f.Warnings) != 0 || fmt.Sprint(f.Columns) != columns {
		t.Errorf("%s %+v %+v", s.ids(t, f.ID), r, f.Warnings)
	}
	if f, r = s.refreshed(t, f.ID); r.Version != nil || f.RowCount != 1 {
		t.Errorf("%+v", r)
	}
}

// A list of deleted keys deletes their rows; it says nothing of how many records a page has.
func TestListedDeletions(t *testing.T) {
	t.Parallel()
	s, l := start(t, webhooks), newLedger(t)
	l.set(`{"id":1,"at":1}`, `{"id":2,"at":2}`, `{"id":3,"at":3}`, `{"id":4,"at":4}`)
	f := s.fetched(t, "", l.spec(`,"deleted":{"path":"$.removed[*]"}`))
	for _, removed := range []struct{ list, left string }{{`1,77`, "2 3 4"}, {`{"id":2,"at":"yesterday","why":{"x":1}}`, "3 4"}, {`{"id":3},4`, ""}} {
		l.change(func() { l.records, l.at, l.removed = nil, nil, removed.list })
		f, _ = s.refreshed(t, f.ID)
		if s.ids(t, f.ID) != removed.left || len(f.Columns) != 2 || len(f.Warnings) != 0 {
			t.Errorf("%s leaves %s: %+v %+v", removed.list, s.ids(t, f.ID), f.Columns, f.Warnings)
		}
	}
	for _, list := range []string{`{"key":3}`, `null`, `{"id":null}`} {
		l.change(func() { l.removed = list })
		if f, _ = s.refreshed(t, f.ID); f.State != "failed" || f.LastError.Type != "/problems/deleted" {
			t.Errorf("%s: %s %+v", list, f.State, f.LastError)
		}
	}
}

// A full fetch deletes the rows that no longer appear, where it is complete.
func TestFullFetchesDelete(t *testing.T) {
	t.Parallel()
	s, l := start(t, webhooks), newLedger(t)
	five := []string{`{"id":1,"at":1}`, `{"id":2,"at":2}`, `{"id":3,"at":3}`, `{"id":4,"at":4}`, `{"id":5,"at":5}`}
	l.set(five...)
	f := s.fetched(t, "", l.spec(`,"errors":[{"status":[404],"action":"ignore"}]`))
	// What the feed had before it had fullEvery was never compared with the source.
	due := func() {
		t.Helper()
		for _, every := range []string{"null", `"7d"`} {
			if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"fullEvery":` + every + `}`}); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if every == "null" {
				s.refreshed(t, f.ID)
			}
		}
	}
	due()
	l.set(five[1], five[3], `{"id":6,"at":6}`)
	if f, _ = s.refreshed(t, f.ID); s.ids(t, f.ID) != "2 4 6" || s.versions(t, f.ID) != "2: 3 +1 ~0 -3, 1: 5 +5 ~0 -0" {
		t.Fatalf("%s %s", s.ids(t, f.ID), s.versions(t, f.ID))
	}
	// The next one is not full.
	l.set(five[3], `{"id":6,"at":6}`)
	if f, _ = s.refreshed(t, f.ID); s.ids(t, f.ID) != "2 4 6" {
		t.Fatal(s.ids(t, f.ID))
	}
	if f = s.accepted(t, f.ID); s.ids(t, f.ID) != "4 6" {
		t.Fatal(s.ids(t, f.ID))
	}
	// What is not complete deletes nothing.
	for name, partial := range map[string]func(){
		"an ignored page":     func() { l.set(`{"id":6,"at":6}`, `{"id":7,"at":7}`); l.broken, l.status = 2, 404 },
		"a page that fails":   func() { l.set(`{"id":6,"at":6}`, `{"id":7,"at":7}`); l.broken, l.status = 2, 500 },
		"a page without list": func() { l.set(`{"id":6,"at":6}`); l.body = `{"message":"busy"}` },
		"no records":          func() { l.set() },
	} {
		due()
		before := s.ids(t, f.ID)
		partial()
		f, r := s.refreshed(t, f.ID)
		if got := s.ids(t, f.ID); !strings.HasPrefix(got, before) {
			t.Errorf("%s: %q after %q", name, got, before)
		}
		if r.State == "succeeded" && !strings.Contains(s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/refreshes/" + r.ID}).body, `"not-deleted"`) {
			t.Errorf("%s: no warning", name)
		}
	}
	l.set()
	if f = s.accepted(t, f.ID); f.RowCount != 0 || f.State != "ready" {
		t.Errorf("%+v", f)
	}
}

// Deletions of a fetch that is not complete are held until one is.
func TestDeletionsAreHeld(t *testing.T) {
	t.Parallel()
	s, l := start(t, webhooks), newLedger(t)
	l.set(`{"id":1,"at":1,"n":1}`, `{"id":2,"at":2,"n":2}`)
	f := s.fetched(t, "", l.spec(`,"deleted":{"flag":"gone"}`))
	var column string
	for _, c := range f.Columns {
		if c.Name == "n" {
			column = c.ID
		}
	}
	if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: `[{"id":"` + column + `","type":"integer","onMisfit":"reject"}]`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	l.set(`{"id":1,"at":3,"gone":true}`, `{"id":3,"at":4,"n":"many"}`, `{"id":4,"at":5,"n":4}`)
	f, _ = s.refreshed(t, f.ID)
	if s.ids(t, f.ID) != "1 2 4" || !strings.Contains(fmt.Sprint(f.Warnings), "not-deleted") {
		t.Fatalf("%s %+v", s.ids(t, f.ID), f.Warnings)
	}
	l.set(`{"id":1,"at":3,"gone":true}`, `{"id":3,"at":4,"n":3}`, `{"id":4,"at":5,"n":4}`)
	if f, _ = s.refreshed(t, f.ID); s.ids(t, f.ID) != "2 4 3" || len(f.Warnings) != 0 {
		t.Errorf("%s %+v", s.ids(t, f.ID), f.Warnings)
	}
}

func TestDeletesThatCannotBe(t *testing.T) {
	t.Parallel()
	s, l := start(t, webhooks), newLedger(t)
	for more, wanted := range map[string]string{
		`"deleted":{"flag":"gone"}`: "/deleted",
		`"deleted":{"flag":"gone","path":"$.x[*]"},"mode":"merge","key":["id"]`:                 "/deleted",
		`"deleted":{},"mode":"merge","key":["id"]`:                                              "/deleted",
		`"deleted":{"path":"$.x[*]","equals":1},"mode":"merge","key":["id"]`:                    "/deleted/equals",
		`"deleted":{"flag":"$[","equals":1},"mode":"merge","key":["id"]`:                        "/deleted/flag",
		`"deleted":{"flag":"gone","equals":[1]},"mode":"merge","key":["id"]`:                    "/deleted/equals",
		`"deleted":{"flag":"gone"},"response":{"format":"csv"},"mode":"merge","key":["id"]`:     "/deleted",
		`"deleted":{"flag":"gone"},"response":{"explode":"$.x[*]"},"mode":"merge","key":["id"]`: "/deleted",
		`"fullEvery":"7d"`: "/fullEvery",
		`"fullEvery":"7d","mode":"merge","key":["id"]`:                                                                      "/fullEvery",
		`"fullEvery":"30s","incremental":{"cursorPath":"$.at","param":{"name":"since"}},"key":["id"]`:                       "/fullEvery",
		`"fullEvery":"7d","incremental":{"cursorPath":"$.at","param":{"name":"since"}}`:                                     "/fullEvery",
		`"fullEvery":"7d","incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"{{today-7d}}"},"key":["id"]`: "/incremental/start",
	} {
		got := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"` + l.URL + `"},` + more + `}`})
		if got.status != 400 || !strings.Contains(got.body, `"pointer":"`+wanted+`"`) {
			t.Errorf("%s: %d %s", more, got.status, got.body)
		}
	}
}
