package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/iceberg"
)

var withTables = setup{env: []string{"FEEDMILL_ICEBERG_LOCAL=true"}}

// shownTable is what the record of a feed has of its table.
type shownTable struct {
	TableName string
	Version   int64
	Columns   []struct {
		ID, Name string
		Hidden   bool
	}
	Table *struct {
		Namespace, Name, MetadataLocation string
		Version                           int64
	}
}

// table waits until the metadata of a feed's newest version is written and holds that all files
// which it names exist. It returns the path of the metadata file.
func (s *service) table(t *testing.T, id string) (f shownTable, file string) {
	t.Helper()
	var got reply
	eventually(t, func() bool {
		// The catalogue writes what has changed, unless another writer does.
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		got = s.send(t, request{method: "GET", path: "/iceberg/v1/namespaces/" + s.workspace(t) + "/tables/" + f.TableName})
		f = shownTable{}
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		return got.status == 200 && f.Table != nil && f.Table.Version == f.Version && strings.Contains(got.body, f.Table.MetadataLocation)
	})
	var loaded struct {
		Location string `json:"metadata-location"`
		Metadata struct {
			Log []struct {
				File string `json:"metadata-file"`
			} `json:"metadata-log"`
		}
	}
	if err := json.Unmarshal([]byte(got.body), &loaded); err != nil || got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	file = strings.TrimPrefix(loaded.Location, "file://")
	for _, earlier := range loaded.Metadata.Log {
		wholeTable(t, strings.TrimPrefix(earlier.File, "file://"), false)
	}
	if n := len(loaded.Metadata.Log); n > 10 {
		t.Errorf("%d earlier metadata files are listed", n)
	}
	wholeTable(t, file, true)
	return f, file
}

// wholeTable holds that a metadata file exists and, if it is the current one, all files that it
// names.
func wholeTable(t *testing.T, file string, current bool) {
	t.Helper()
	folder := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(file); err != nil || !current {
		if err != nil {
			t.Error(err)
		}
		return
	}
	loaded, err := iceberg.Load("file://"+folder, "metadata/"+filepath.Base(file), func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, path)) })
	if err != nil {
		t.Fatal(err)
	}
	for _, snapshot := range loaded.Snapshots {
		for _, path := range snapshot.Files() {
			if _, err := os.Stat(strings.TrimPrefix(path, "file://")); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the snapshot of version %d names a file that does not exist: %s", snapshot.Version, path)
			}
		}
	}
}

// readTable are the snapshots of a table as another reader sees them, by the version.
type readTable map[string]struct {
	Fields []iceberg.Field
	Rows   [][]any
}

func readWith(t *testing.T, reader, file string) (found readTable) {
	t.Helper()
	installed := map[string]string{"icebird": "readers", "clickhouse": "clickhouse"}[reader]
	modules, err := filepath.Abs("../../bin/tools/" + installed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "installed")); err != nil {
		t.Fatalf("%s is not installed; run make %s: %v", reader, installed, err)
	}
	command := exec.CommandContext(t.Context(), "node", "testdata/tables.mjs", reader, filepath.Join(modules, "node_modules"), file)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// sameRows holds that each kept version of a feed has the same rows in the API and in another
// reader.
func (s *service) sameRows(t *testing.T, id, reader string) {
	t.Helper()
	f, file := s.table(t, id)
	found := readWith(t, reader, file)
	versions := fetch[[]shownVersion](t, s, 200, request{method: "GET", path: "/data_feeds/" + id + "/versions?limit=500"})
	if len(found) != len(versions) {
		t.Fatalf("%s finds %d snapshots of %d versions", reader, len(found), len(versions))
	}
	for _, v := range versions {
		got := found[fmt.Sprint(v.Version)]
		var want, have []string
		for line := range strings.Lines(s.read(t, id, fmt.Sprintf("&numbers=text&version=%d", v.Version))) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, c := range f.Columns {
				if value, ok := row[c.Name]; ok && reads(reader, c.Name) {
					text += fmt.Sprintf("%s=%s ", c.ID, canonical(t, reader, typeOfField(got.Fields, c.ID), value))
				}
			}
			want = append(want, text)
		}
		for _, row := range got.Rows {
			text := ""
			for _, c := range f.Columns {
				if at := slices.IndexFunc(got.Fields, func(f iceberg.Field) bool { return fmt.Sprintf("c%d", f.ID) == c.ID }); at >= 0 && !c.Hidden && reads(reader, c.Name) {
					text += fmt.Sprintf("%s=%s ", c.ID, canonical(t, reader, got.Fields[at].Type, row[at]))
				}
			}
			have = append(have, text)
		}
		slices.Sort(want)
		slices.Sort(have)
		if int64(len(want)) != v.RowCount || !slices.Equal(want, have) {
			t.Errorf("version %d has %d rows in %s and %d in the API; the first are\n%q, want\n%q", v.Version, len(have), reader, len(want), have[:min(1, len(have))], want[:min(1, len(want))])
		}
	}
}

// readers are those that read tables in this form of the tests.
func readers() []string {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return []string{"icebird", "clickhouse"}
	}
	return []string{"icebird"}
}

func typeOfField(fields []iceberg.Field, id string) string {
	for _, f := range fields {
		if fmt.Sprintf("c%d", f.ID) == id {
			return f.Type
		}
	}
	return ""
}

// reads reports whether a reader finds a column. To icebird a name with a point is that of a
// member of a struct.
func reads(reader, column string) bool { return reader != "icebird" || !strings.Contains(column, ".") }

// canonical is a value in a form that does not depend on its reader. Decimals are floats to
// icebird.
func canonical(t *testing.T, reader, kind string, value any) string {
	t.Helper()
	text := fmt.Sprint(value)
	switch {
	case value == nil:
		return "null"
	case kind == "long" || strings.HasPrefix(kind, "decimal"):
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is not a number", text)
		}
		if reader == "icebird" && kind != "long" {
			rounded, _ := n.Float64()
			return strconv.FormatFloat(rounded, 'e', 9, 64)
		}
		return n.RatString()
	case kind == "timestamptz" || kind == "date":
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
			if at, err := time.Parse(layout, text); err == nil {
				return fmt.Sprint(at.UnixMicro())
			}
		}
		t.Fatalf("%q is not a time", text)
	}
	return text
}

// tableRows are rows with nulls, times before 1970 and decimals of many digits.
func tableRows(from, to int) string {
	var b strings.Builder
	b.WriteString("id,d5,d9,d10,d18,d19,d38,a.b.c,Name,name,at,day,paid\n")
	for i := from; i < to; i++ {
		if i%5 == 4 {
			fmt.Fprintf(&b, "%d,,,,,,,,,,,,\n", i)
			continue
		}
		sign := map[bool]string{true: "-"}[i%2 == 1]
		fmt.Fprintf(&b, "%d,%s%d.%02d,%s%d.99,%s%d.5,%s12345678901234%03d.5,%s123456789012345%03d.5,%s123456789012345678901234567890123%03d.25,t%d,N%d,,%d-03-04T05:06:07Z,%d-01-02,%t\n",
			i, sign, 100+i%800, i%100, sign, 1_000_000+i, sign, 100_000_000+i, sign, i, sign, i, sign, i, i, i%7, 1950+i%100, 1900+i%200, i%2 == 0)
	}
	return b.String()
}

// TestTableOfAFeed reads each version of a feed with an independent reader, after uploads,
// appends, replacements, a compaction and a restore.
func TestTableOfAFeed(t *testing.T) {
	t.Parallel()
	s := start(t, withTables)
	f := s.upload(t, "&mode=append&name=Prices", "text/csv", tableRows(0, 50))
	other := s.upload(t, "&mode=merge&key=id&name=Prices", "text/csv", "id,v\n1,a\n2,b\n")
	for i := range longOr(9, 60) {
		s.put(t, f.ID, "", tableRows(50+10*i, 60+10*i))
	}
	s.table(t, f.ID)
	if _, err := s.feeds(t).JoinFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.put(t, f.ID, "?mode=replace", tableRows(1000, 1010))
	s.put(t, f.ID, "", tableRows(1010, 1015))
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/versions/3/restore"})
	s.put(t, other.ID, "", "id,v\n2,c\n3,d\n")
	s.put(t, other.ID, "", "id,v\n4,\n")
	for _, reader := range readers() {
		s.sameRows(t, f.ID, reader)
		s.sameRows(t, other.ID, reader)
	}
	page := s.send(t, request{method: "GET", path: "/ui/feeds/" + f.ID + "/use", key: "-", header: [][2]string{{"Cookie", s.session(t, adminKey)}}})
	if page.status != 200 || !strings.Contains(page.body, "icebergLocal(") || !strings.Contains(page.body, "load_catalog(") {
		t.Errorf("the page shows no snippets: %d %.300s", page.status, page.body)
	}
	if guide := s.send(t, request{method: "GET", path: "/docs/how-to/query-with-other-engines", key: "-"}); guide.status != 200 || !strings.Contains(page.body, "/docs/how-to/query-with-other-engines") {
		t.Errorf("the guide: %d", guide.status)
	}
	_, file := s.table(t, f.ID)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `"operation":"replace"`) {
		t.Errorf("no snapshot replaces files, %v", err)
	}
	// A version that is not kept is not a snapshot any more.
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"keep":{"versions":2}}`})
	if _, err := s.feeds(t).ForgetVersions(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.feeds(t).DeleteUnreferenced(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s.sameRows(t, f.ID, "icebird")
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + f.ID})
	if got := s.send(t, request{method: "GET", path: "/iceberg/v1/namespaces/" + s.workspace(t) + "/tables/prices"}); got.status != 404 {
		t.Errorf("the table of a deleted feed: %d %s", got.status, got.body)
	}
}

// workspace is the id of the workspace of the admin key.
func (s *service) workspace(t *testing.T) string {
	t.Helper()
	var list struct{ Namespaces [][]string }
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: "/iceberg/v1/namespaces"}).body), &list); err != nil {
		t.Fatal(err)
	}
	return list.Namespaces[0][0]
}

// TestTableOfChangedColumns has the columns of a feed change in all ways, and ClickHouse read
// every version in the long form. icebird does not find columns by their ids.
func TestTableOfChangedColumns(t *testing.T) {
	t.Parallel()
	s := start(t, withTables)
	f := s.upload(t, "&mode=append&name=Changing", "text/csv", tableRows(0, 20))
	columns := func(body string) {
		t.Helper()
		if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: body}); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	s.put(t, f.ID, "", tableRows(20, 30))
	columns(`[{"id":"c8","name":"renamed"},{"id":"c9","hidden":true},{"id":"c11","position":1}]`)
	if _, file := s.table(t, f.ID); strings.Contains(currentSchema(t, file), "Name") || !strings.Contains(currentSchema(t, file), "renamed") {
		t.Errorf("the current schema is %s", currentSchema(t, file))
	}
	s.put(t, f.ID, "", "id,d5,extra\n30,12345.67,new\n") // an added column, and a wider decimal
	s.put(t, f.ID, "", "id,d5\n31.5,1.5\n")              // an integer that becomes a decimal
	s.table(t, f.ID)                                     // its files are rewritten before it is registered
	s.put(t, f.ID, "", "id,paid\n32,maybe\n")            // a boolean that becomes text
	s.put(t, f.ID, "?mode=replace", tableRows(0, 5))
	columns(`[{"id":"c9","hidden":false},{"id":"c8","name":"a.b.c"}]`)
	got, file := s.table(t, f.ID)
	if got.Table.Version != 6 || !strings.Contains(currentSchema(t, file), "Name") {
		t.Errorf("version %d with %s", got.Table.Version, currentSchema(t, file))
	}
	if os.Getenv("FEEDMILL_LONG") != "" {
		s.sameRows(t, f.ID, "clickhouse")
	}
}

// currentSchema lists the names of a table's columns.
func currentSchema(t *testing.T, file string) (names string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Current int `json:"current-schema-id"`
		Schemas []iceberg.Schema
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, schema := range m.Schemas {
		if schema.ID == m.Current {
			for _, f := range schema.Fields {
				names += f.Name + " "
			}
		}
	}
	return names
}
