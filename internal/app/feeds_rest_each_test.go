package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A child is fetched for every row of its parent, with a cursor for each, and once
// more when the parent has a new version.
func TestParentAndChild(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"full_name":"a/one","stars":3},{"full_name":"b/two","stars":5}]`)
	var mu sync.Mutex
	var asked []string
	issues := map[string][]string{
		"a/one": {`{"id":1,"at":"2026-01-01T00:00:00Z"}`, `{"id":2,"at":"2026-01-02T00:00:00Z"}`},
		"b/two": {`{"id":1,"at":"2026-01-01T00:00:00Z"}`}, "c/three": {`{"id":9,"at":"2026-01-09T00:00:00Z"}`},
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		repo, since := strings.TrimPrefix(r.URL.Path, "/"), r.URL.Query().Get("since")
		asked = append(asked, repo+" "+since)
		var found []string
		for _, row := range issues[repo] {
			if row[strings.Index(row, `"at":"`)+6:] >= since {
				found = append(found, row)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(found, ","))
	}))
	t.Cleanup(api.Close)
	parent := s.fetched(t, "", `{"name":"Repos","request":{"url":"`+shop.URL+`"}}`)
	child := s.fetched(t, "", `{"name":"Issues","request":{"url":"`+api.URL+`/{{repo.full_name}}"},"response":{"path":"$.items[*]"},"key":["repo.full_name","id"],
		"each":{"in":{"feedId":"`+parent.ID+`"},"as":"repo","include":["full_name","stars"]},"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"2026-01-01"}}`)
	if child.State != "ready" || child.RowCount != 3 {
		t.Fatalf("%+v %+v", child, child.LastError)
	}
	if got := s.read(t, child.ID, "&limit=1"); got != `{"id":1,"at":"2026-01-01T00:00:00Z","repo.full_name":"a/one","repo.stars":3}`+"\n" {
		t.Error(got)
	}
	mu.Lock()
	asked = nil
	issues["b/two"] = append(issues["b/two"], `{"id":4,"at":"2026-02-01T00:00:00Z"}`)
	mu.Unlock()
	shop.set(200, `[{"full_name":"a/one","stars":4},{"full_name":"b/two","stars":5},{"full_name":"c/three","stars":1}]`)
	s.refreshed(t, parent.ID)
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + child.ID}).data(t, &child)
		return child.Version == 2
	})
	mu.Lock()
	defer mu.Unlock()
	if child.RowCount != 5 {
		t.Errorf("%+v\n%s", child, s.read(t, child.ID, ""))
	}
	got := strings.Join(asked, ", ")
	for _, want := range []string{"b/two 2026-01-01T00:00:00Z", "c/three 2026-01-01"} {
		if !strings.Contains(got, want) {
			t.Errorf("asked for %s", got)
		}
	}
	// Nobody is made of their own rows.
	patch := s.send(t, request{method: "PATCH", path: "/data_feeds/" + parent.ID, body: `{"request":{"url":"` + shop.URL + `/{{x.id}}"},"each":{"in":{"feedId":"` + child.ID + `"},"as":"x"}}`})
	if patch.status != 400 || !strings.Contains(patch.body, "/each/in/feedId") {
		t.Errorf("%d %s", patch.status, patch.body)
	}
}

// A new row of one parent that is like a stored row of another is kept, once.
func TestParentsHaveTheirOwnRows(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	var mu sync.Mutex
	rows := map[string]string{"/a": `{"at":1,"what":"opened"}`}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[%s]`, rows[r.URL.Path])
	}))
	t.Cleanup(api.Close)
	definition := `{"request":{"url":"` + api.URL + `/{{door.name}}"},"each":{"in":{"values":[{"name":"a"},{"name":"b"}]},"as":"door"%s},
		"incremental":{"cursorPath":"$.at","param":{"name":"since"}}}`
	refused := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: fmt.Sprintf(definition, "")})
	if refused.status != 400 || !strings.Contains(refused.body, `"/each/include"`) {
		t.Errorf("%d %s", refused.status, refused.body)
	}
	f := s.fetched(t, "", fmt.Sprintf(definition, `,"include":["name"]`))
	mu.Lock()
	rows["/b"] = rows["/a"]
	mu.Unlock()
	for range 2 {
		s.refreshed(t, f.ID)
		if got := s.read(t, f.ID, ""); got != `{"at":1,"what":"opened","door.name":"a"}`+"\n"+`{"at":1,"what":"opened","door.name":"b"}`+"\n" {
			t.Error(got)
		}
	}
}

// The open window of every parent is fetched again, and what is there already is not
// kept twice, though nothing in a row says which day it is of.
func TestWindowsOfParents(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"n":1},{"n":2}]`)
	}))
	t.Cleanup(api.Close)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/{{x.id}}"},"each":{"in":{"values":[{"id":"a"},{"id":"b"}]},"as":"x","include":["id"]},
		"incremental":{"step":"1d","start":"{{today-3d}}","format":"date","param":{"name":"from"}}}`)
	before := f.RowCount
	if before < 2*2*4 {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	if f, r := s.refreshed(t, f.ID); r.Requests == 2 && f.RowCount != before {
		t.Errorf("%d rows, want %d: %+v", f.RowCount, before, r)
	}
}

// A backfill goes on at the window where it failed, and its first version is whole.
func TestBackfillGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	var mu sync.Mutex
	asked := map[string]int{}
	broken := "2026-02-20"
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		from := r.URL.Query().Get("from")
		asked[from]++
		if from == broken {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"day":%q,"n":1},{"day":%q,"n":1}]`, from, from)
	}))
	t.Cleanup(api.Close)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"incremental":{"step":"1d","start":"2026-02-01","format":"date","param":{"name":"from"}}}`)
	if f.State != "failed" || f.Version != 0 {
		t.Fatalf("%+v", f)
	}
	mu.Lock()
	broken = ""
	mu.Unlock()
	f, r := s.refreshed(t, f.ID)
	mu.Lock()
	if f.State != "ready" || f.Version != 1 || asked["2026-02-01"] != 1 || asked["2026-02-19"] != 1 || asked["2026-02-20"] != 2 || f.RowCount != int64(2*len(asked)) {
		t.Errorf("%+v %v %+v", f, asked, r)
	}
	if r.Parts != int64(len(asked)) || r.PartsDone != r.Parts {
		t.Errorf("%d of %d windows", r.PartsDone, r.Parts)
	}
	before := f.RowCount
	mu.Unlock()
	// The open window is fetched again, and not kept twice.
	if f, r = s.refreshed(t, f.ID); f.RowCount < before || f.RowCount > before+2 || r.Requests > 2 {
		t.Errorf("%+v %+v", f, r)
	}
}
