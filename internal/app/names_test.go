package app

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestLongNames sends names of the maximum length, and ones that are a byte longer.
func TestLongNames(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	longest := strings.Repeat("n", feedmill.MaxSourceName)
	// A feed shortens the names of its columns, and keeps those of the source beside them.
	hasLongest := func(feed string) {
		t.Helper()
		if got := s.send(t, request{method: "GET", path: "/data_feeds/" + feed}); !strings.Contains(got.body, `"sourceName":"`+longest+`"`) {
			t.Errorf("the longest name: %.300s", got.body)
		}
	}
	refusals := map[string][2]string{
		"text/csv": {"id,NAME\n1,2\n", "The name of column 2 has 1025 bytes"}, "application/json": {`[{"id":1,"NAME":2}]`, "line 1, column 10 (byte 9): the column name is 1025 bytes long"},
	}
	for mediaType, test := range refusals {
		data := test[0]
		hasLongest(s.upload(t, "&name=f", mediaType, strings.ReplaceAll(data, "NAME", longest)).ID)
		for _, path := range []string{"/data_feeds?type=dataUpload", "/data_feeds/preview?type=dataUpload"} {
			got := s.sendData(t, "POST", path, mediaType, strings.ReplaceAll(data, "NAME", longest+"n"))
			if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, test[1]) {
				t.Errorf("%s to %s: %d %s", mediaType, path, got.status, got.body)
			}
		}
	}
	name := filepath.Join(folder, "names.db")
	db := openDatabase(t, "sqlite3", name, "sqlite", map[string]any{"path": name})
	db.do(t, `CREATE TABLE fits (id INTEGER, `+longest+` TEXT)`, `INSERT INTO fits VALUES (1, 'x')`, `CREATE TABLE broad (id INTEGER, `+longest+`n TEXT)`, `CREATE TABLE `+longest+`n (id INTEGER)`)
	s.connectTo(t, db, "names")
	hasLongest(s.queried(t, `{"name":"f","serviceName":"names","viewName":"fits","query":{"fields":[{"field":"`+longest+`"}]}}`).ID)
	for _, got := range []reply{
		s.send(t, request{method: "GET", path: "/query_builder/services/names/views/broad/fields"}),
		s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"names","viewName":"broad","query":{"fields":[{"field":"id"}]}}`}),
	} {
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "/problems/name-too-long") || !strings.Contains(got.body, "field 2 has 1025 bytes") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := s.send(t, request{method: "GET", path: "/query_builder/services/names/views"}); got.status != 200 || strings.Contains(got.body, longest) || !strings.Contains(got.body, "broad") {
		t.Errorf("%d %.300s", got.status, got.body)
	}
}
