package app

import (
	"fmt"
	"strings"
	"testing"
)

// changes reads what is different between two versions, a line for each row.
func (s *service) changes(t *testing.T, feed, query string) string {
	t.Helper()
	got := s.send(t, request{method: "GET", path: "/data_feeds/" + feed + "/changes?format=ndjson&" + query})
	if got.status != 200 {
		t.Fatalf("%s: %d %s", query, got.status, got.body)
	}
	return got.body
}

func TestChangesBetweenVersions(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "&mode=merge&key=id", "text/csv", "id,total,note\n1,1,a\n2,2,b\n3,3,\n")
	s.put(t, f.ID, "", "id,total,note\n2,2.5,b\n4,4,\"q\"\"x\"\n")
	s.put(t, f.ID, "?mode=replace", "id,total,extra\n1,1,[1]\n4,4,\n7,7,z\n")
	for query, wanted := range map[string]string{
		"from=1&to=2": `{"_change":"update","id":2,"total":2.5,"note":"b","_before":{"id":2,"total":2.0,"note":"b"}}
{"_change":"insert","id":4,"total":4.0,"note":"q\"x","_before":null}
`,
		"from=1": `{"_change":"delete","id":2,"total":2.0,"note":"b","extra":null,"_before":null}
{"_change":"delete","id":3,"total":3.0,"note":null,"extra":null,"_before":null}
{"_change":"update","id":1,"total":1.0,"note":null,"extra":"[1]","_before":{"id":1,"total":1.0,"note":"a","extra":null}}
{"_change":"insert","id":4,"total":4.0,"note":null,"extra":null,"_before":null}
{"_change":"insert","id":7,"total":7.0,"note":null,"extra":"z","_before":null}
`,
		"from=3&to=1&filter=_change:eq:delete&sort=-id&fields=id": "{\"id\":7}\n{\"id\":4}\n",
		"from=2&to=2": "",
	} {
		if got := s.changes(t, f.ID, query); got != wanted {
			t.Errorf("%s: %s", query, got)
		}
	}

	// Pages go on with the versions that the first was of.
	path := "/data_feeds/" + f.ID
	all := ""
	for next := path + "/changes?from=1&limit=2&count=true&format=ndjson"; next != ""; {
		page := s.send(t, request{method: "GET", path: next})
		if page.status != 200 || page.header.Get("X-Total-Count") != "5" {
			t.Fatalf("%d %s %s", page.status, page.header, page.body)
		}
		if all == "" {
			s.put(t, f.ID, "?mode=replace", "id\n9\n")
		}
		all += page.body
		_, next, _ = strings.Cut(page.header.Get("Link"), "<")
		next, _, _ = strings.Cut(next, ">")
	}
	if wanted := s.changes(t, f.ID, "from=1&to=3"); all != wanted {
		t.Errorf("pages: %s", all)
	}

	// A hidden column is not in the old row, and a name that is another now is.
	s.send(t, request{method: "PATCH", path: path + "/columns", body: `[{"id":"` + f.Columns[2].ID + `","hidden":true},{"id":"` + f.Columns[1].ID + `","name":"sum"}]`})
	if got := s.changes(t, f.ID, "from=1&to=2&filter=_change:eq:update"); got != "{\"_change\":\"update\",\"id\":2,\"sum\":2.5,\"_before\":{\"id\":2,\"sum\":2.0}}\n" {
		t.Error(got)
	}

	s.send(t, request{method: "PATCH", path: path, body: `{"keep":{"versions":2}}`})
	for query, wanted := range map[string]string{"from=1": "410 version-gone", "from=3&to=2": "410 version-gone", "from=3&to=99": "404 no-version", "": "400 invalid-request", "from=0": "400 invalid-request"} {
		got := s.send(t, request{method: "GET", path: path + "/changes?" + query})
		if status, kind, _ := strings.Cut(wanted, " "); fmt.Sprint(got.status) != status || !strings.Contains(got.body, "/problems/"+kind) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// Rows without a key are the same where they are equal, as often as both versions have them.
func TestChangesOfRowsWithoutAKey(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "a,b\n1,x\n1,x\n2,\n3,z\n")
	s.put(t, f.ID, "", "b,a\nx,1\n,2\n,2\nz,4\n")
	const wanted = `{"_change":"delete","a":1,"b":"x","_before":null}
{"_change":"delete","a":3,"b":"z","_before":null}
{"_change":"insert","a":2,"b":null,"_before":null}
{"_change":"insert","a":4,"b":"z","_before":null}
`
	if got := s.changes(t, f.ID, "from=1&to=2"); got != wanted {
		t.Error(got)
	}
	if got := s.versions(t, f.ID); got != "2: 4, 1: 4" {
		t.Error(got)
	}

	// A merge leaves alone what others have added twice, so its rows have no key.
	f = s.upload(t, "&mode=merge&key=a", "text/csv", "a,b\n1,x\n2,y\n")
	s.put(t, f.ID, "?mode=append", "a,b\n1,z\n")
	s.put(t, f.ID, "", "a,b\n2,w\n")
	s.put(t, f.ID, "?mode=replace", "a,b\n1,u\n2,w\n")
	if got := s.changes(t, f.ID, "from=3&to=4"); got != `{"_change":"delete","a":1,"b":"x","_before":null}
{"_change":"delete","a":1,"b":"z","_before":null}
{"_change":"insert","a":1,"b":"u","_before":null}
` {
		t.Error(got)
	}
}

// Many small files become few, and nobody sees a difference.
func TestFilesAreJoined(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "&mode=append", "text/csv", "id,total\n0,0\n")
	wanted := "{\"id\":0,\"total\":0.0}\n"
	for i := 1; i < 12; i++ {
		s.put(t, f.ID, "", fmt.Sprintf("id,total\n%d,%d.5\n", i, i))
		wanted += fmt.Sprintf("{\"id\":%d,\"total\":%d.5}\n", i, i)
	}
	show := func() (shown shownFeed) {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &shown)
		return shown
	}
	before := show()
	files := len(s.files(t))
	for range 2 {
		if _, err := s.feeds(t).JoinFiles(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.files(t)); got != files+1 {
		t.Errorf("%d files after %d", got, files)
	}
	after := show()
	if after.ContentHash != before.ContentHash || after.Version != before.Version || s.read(t, f.ID, "") != wanted {
		t.Errorf("%+v after %+v: %s", after, before, s.read(t, f.ID, ""))
	}
	if got := s.read(t, f.ID, "&version=5"); got != wanted[:strings.Index(wanted, "{\"id\":5")] {
		t.Error(got)
	}
	if got := s.changes(t, f.ID, "from=11"); got != "{\"_change\":\"insert\",\"id\":11,\"total\":11.5,\"_before\":null}\n" {
		t.Error(got)
	}
	// What comes next finds the rows where they are now.
	s.put(t, f.ID, "?mode=merge&key=id", "id,total\n3,33\n")
	if got := s.read(t, f.ID, "&filter=id:gte:10&filter=id:lte:12"); !strings.HasPrefix(got, "{\"id\":10,") {
		t.Error(got)
	}
	if got := s.changes(t, f.ID, "from=12"); got != "{\"_change\":\"update\",\"id\":3,\"total\":33.0,\"_before\":{\"id\":3,\"total\":3.5}}\n" {
		t.Error(got)
	}
}
