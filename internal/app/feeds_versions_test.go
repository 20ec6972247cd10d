package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type shownVersion struct {
	Version, RowCount int64
	Rows              *struct{ Inserted, Updated, Deleted int64 }
	RefreshID         string `json:"refreshId"`
	Pinned            bool
}

// versions lists the versions of a feed, as number, rows and what changed.
func (s *service) versions(t *testing.T, feed string) string {
	t.Helper()
	var all []string
	for _, v := range fetch[[]shownVersion](t, s, 200, request{method: "GET", path: "/data_feeds/" + feed + "/versions"}) {
		text := fmt.Sprintf("%d: %d", v.Version, v.RowCount)
		if v.Rows != nil {
			text += fmt.Sprintf(" +%d ~%d -%d", v.Rows.Inserted, v.Rows.Updated, v.Rows.Deleted)
		}
		if v.Pinned {
			text += " pinned"
		}
		if !strings.HasPrefix(v.RefreshID, "rfr_") {
			t.Errorf("version %d was brought by %q", v.Version, v.RefreshID)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (s *service) put(t *testing.T, feed, query, data string) (f shownFeed) {
	t.Helper()
	s.sendData(t, "PUT", "/data_feeds/"+feed+"/data"+query, "text/csv", data).data(t, &f)
	return f
}

func TestVersionsOfAnUpload(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "&mode=merge&key=id", "text/csv", "id,total\n1,1\n2,2\n3,3\n")
	path := "/data_feeds/" + f.ID
	s.put(t, f.ID, "", "id,total\n2,2.5\n4,4\n")
	// The same again is no version, whatever the order.
	if f = s.put(t, f.ID, "", "id,total\n4,4\n2,2.5\n"); f.Version != 2 {
		t.Errorf("%+v", f)
	}
	s.put(t, f.ID, "?mode=append", "id,total\n5,5\n")
	s.put(t, f.ID, "?mode=replace", "id,total\n1,1\n5,6\n7,7\n")
	if got := s.versions(t, f.ID); got != "4: 3 +1 ~1 -3, 3: 5, 2: 4 +1 ~1 -0, 1: 3 +3 ~0 -0" {
		t.Error(got)
	}
	const third = "{\"id\":1,\"total\":1.0}\n{\"id\":3,\"total\":3.0}\n{\"id\":2,\"total\":2.5}\n{\"id\":4,\"total\":4.0}\n{\"id\":5,\"total\":5.0}\n"
	if got := s.read(t, f.ID, "&version=3"); got != third {
		t.Error(got)
	}

	// A restored version is a new one, and is told of.
	s.send(t, request{method: "POST", path: path + "/versions/3/restore"}).data(t, &f)
	if f.Version != 5 || f.RowCount != 5 || s.read(t, f.ID, "") != third {
		t.Errorf("%+v", f)
	}
	var event struct {
		Data struct {
			Version, PreviousVersion, RowCount int64
			Changed                            bool
			Rows                               *struct{ Inserted, Updated, Deleted int64 }
			Columns                            map[string][]string
			RefreshID                          string `json:"refreshId"`
		}
	}
	events := s.send(t, request{method: "GET", path: "/events?type=datafeed.source.refreshed&limit=1"})
	if err := json.Unmarshal([]byte(events.body[1:len(events.body)-1]), &event); err != nil {
		t.Fatal(err, events.body)
	}
	if d := event.Data; d.Version != 5 || d.PreviousVersion != 4 || d.RowCount != 5 || !d.Changed || d.Columns["added"] == nil || !strings.HasPrefix(d.RefreshID, "rfr_") {
		t.Errorf("%s", events.body)
	}
	// What is there already is not made again.
	s.send(t, request{method: "POST", path: path + "/versions/3/restore"}).data(t, &f)
	if f.Version != 5 {
		t.Errorf("%+v", f)
	}

	var v shownVersion
	s.send(t, request{method: "PATCH", path: path + "/versions/1", body: `{"pinned":true}`}).data(t, &v)
	s.send(t, request{method: "PATCH", path: path, body: `{"keep":{"versions":2}}`}).data(t, &f)
	if got := s.versions(t, f.ID); got != "5: 5, 4: 3 +1 ~1 -3, 1: 3 +3 ~0 -0 pinned" {
		t.Error(got)
	}
	s.send(t, request{method: "GET", path: path + "/versions/1"}).data(t, &v)
	if !v.Pinned || s.read(t, f.ID, "&version=1") == "" {
		t.Errorf("%+v", v)
	}
	for _, q := range []request{
		{method: "GET", path: path + "/data?version=3"},
		{method: "GET", path: path + "/versions/3"},
		{method: "POST", path: path + "/versions/3/restore"},
		{method: "PATCH", path: path + "/versions/3", body: `{"pinned":true}`},
		{method: "GET", path: path + "/versions/x"},
		{method: "GET", path: path + "/versions/99"},
	} {
		if got := s.send(t, q); got.status != 404 || !strings.Contains(got.body, "no-version") {
			t.Errorf("%s %s: %d %s", q.method, q.path, got.status, got.body)
		}
	}
	for _, body := range []string{`{}`, `{"pinned":1}`, `{"pinned":true,"x":1}`} {
		if got := s.send(t, request{method: "PATCH", path: path + "/versions/1", body: body}); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	for _, keep := range []string{`{"versions":0}`, `{"days":-1}`, `{"weeks":1}`, `7`} {
		if got := s.send(t, request{method: "PATCH", path: path, body: `{"keep":` + keep + `}`}); got.status != 400 || !strings.Contains(got.body, "/keep") {
			t.Errorf("%s: %d %s", keep, got.status, got.body)
		}
	}
}

// A feed that replaces its rows on a schedule is paused when it is restored, and one
// that adds to them goes on from where the restored version was fetched.
func TestRestoringWhatIsFetched(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1,"at":"2026-01-01"}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"schedule":{"every":"1h"},"keep":{"versions":3,"days":1}}`)
	shop.set(200, `[{"id":2,"at":"2026-01-02"}]`)
	s.refreshed(t, f.ID)
	var restored restFeed
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/versions/1/restore"}).data(t, &restored)
	if restored.State != "paused" || restored.Version != 3 || s.read(t, f.ID, "") != "{\"id\":1,\"at\":\"2026-01-01\"}\n" {
		t.Errorf("%+v", restored)
	}

	added := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"schedule":{"every":"1h"},"mode":"append","incremental":{"cursorPath":"$.at","param":{"in":"query","name":"since"}}}`)
	shop.set(200, `[{"id":3,"at":"2026-01-03"}]`)
	s.refreshed(t, added.ID)
	if got := s.read(t, added.ID, ""); got != "{\"id\":2,\"at\":\"2026-01-02\"}\n{\"id\":3,\"at\":\"2026-01-03\"}\n" {
		t.Error(got)
	}
	s.send(t, request{method: "POST", path: "/data_feeds/" + added.ID + "/versions/1/restore"}).data(t, &restored)
	if restored.State != "ready" || restored.Version != 3 || restored.RowCount != 1 {
		t.Errorf("%+v", restored)
	}
	_, r := s.refreshed(t, added.ID)
	if got := s.read(t, added.ID, ""); !strings.HasSuffix(got, "{\"id\":3,\"at\":\"2026-01-03\"}\n") || !strings.Contains(r.Trace[0].URL, "since=2026-01-02") {
		t.Errorf("%s %+v", got, r.Trace)
	}
}

// A feed that has lost a column is unchanged like any other.
func TestALostColumnIsToldOfOnce(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1,"note":"x"},{"id":2,"note":"y"}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"key":["id"],"mode":"merge"}`)
	shop.set(200, `[{"id":1},{"id":2}]`)
	for range 3 {
		f, _ = s.refreshed(t, f.ID)
	}
	if got := s.versions(t, f.ID); got != "2: 2 +0 ~2 -0, 1: 2 +2 ~0 -0" {
		t.Error(got)
	}
}
