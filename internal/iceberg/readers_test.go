package iceberg

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// foundRows are the rows of versions that a reader found, with the values by name.
type foundRows map[string][]map[string]any

// history commits versions that append, replace, join and delete, and returns the rows of
// each. With evolve, columns are also added, renamed, hidden, reordered and widened.
func (s *store) history(evolve bool) (metadata Object, want map[string][]row, columns map[string][]feedmill.Column) {
	want, columns = make(map[string][]row), make(map[string][]feedmill.Column)
	now := testColumns()[:3]
	commit := func(v Version, rows []row) {
		v.Columns = slices.Clone(now)
		metadata = s.commit(v)
		key := fmt.Sprint(v.Number)
		want[key], columns[key] = rows, v.Columns
	}
	a := s.file("a.parquet", now, testRows(0, 200))
	commit(Version{Number: 1, Files: []DataFile{a}}, testRows(0, 200))
	if evolve {
		now = testColumns() // one more column
	}
	b := s.file("b.parquet", now, testRows(200, 230))
	commit(Version{Number: 2, Files: []DataFile{a, b}}, testRows(0, 230))
	if evolve {
		now[0].Name, now[1].Precision = "a.b.c", 9
		now[1], now[2] = now[2], now[1]
	}
	c := s.file("c.parquet", now, testRows(300, 310))
	commit(Version{Number: 3, Files: []DataFile{b, c}}, append(testRows(200, 230), testRows(300, 310)...))
	if evolve {
		now[1].Hidden = true
		now[2].Name = "ID"
	}
	joined := s.file("joined.parquet", now, append(testRows(200, 230), testRows(300, 310)...))
	commit(Version{Number: 4, Files: []DataFile{joined}, Joined: true}, append(testRows(200, 230), testRows(300, 310)...))
	return metadata, want, columns
}

// compare compares the rows of all versions with those that were found, in any order.
func compareFound(t *testing.T, found foundRows, want map[string][]row, columns map[string][]feedmill.Column, instant func(any) int64) {
	t.Helper()
	if len(found) != len(want) {
		t.Fatalf("%d versions were found, want %d", len(found), len(want))
	}
	for version, rows := range want {
		shown := func(values map[string]any) (text string) {
			for _, c := range columns[version] {
				if c.Hidden {
					if _, there := values[c.Name]; there {
						t.Fatalf("version %s shows the hidden column %q", version, c.Name)
					}
					continue
				}
				switch value := values[c.Name]; {
				case value == nil:
					text += "null "
				case c.Number() == 2:
					text += fmt.Sprint(math.Round(value.(float64)*100), " ")
				case c.Number() == 4:
					text += fmt.Sprint(instant(value), " ")
				default:
					text += fmt.Sprint(value, " ")
				}
			}
			return text
		}
		var got, wanted []string
		for _, values := range found[version] {
			got = append(got, shown(values))
		}
		for _, r := range rows {
			text := ""
			for _, c := range columns[version] {
				switch {
				case c.Hidden:
				case c.Number() == 1:
					text += fmt.Sprint(r.id, " ")
				case r.amount == nil:
					text += "null "
				case c.Number() == 2:
					text += fmt.Sprint(float64(*r.amount), " ")
				case c.Number() == 3:
					text += *r.text + " "
				case c.Number() == 4 && r.id < 200: // a file without the column
					text += "null "
				case c.Number() == 4:
					text += fmt.Sprint(*r.at, " ")
				}
			}
			wanted = append(wanted, text)
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("version %s: %d rows, want %d; first %q, want %q", version, len(got), len(wanted), got[:min(3, len(got))], wanted[:3])
		}
	}
}

// TestIcebird has a reader that shares no code with Feedmill read every version. It does not
// follow field ids in files, so the columns stay the same.
func TestIcebird(t *testing.T) {
	s := newStore(t, "")
	server := httptest.NewServer(http.FileServer(http.Dir(s.folder)))
	defer server.Close()
	s.table.Location = server.URL
	metadata, want, columns := s.history(false)
	found := runReader(t, "readers", "icebird.mjs", server.URL, filepath.Base(metadata.Path))
	compareFound(t, found, want, columns, nil)
}

// TestClickHouse has ClickHouse read every version of a table whose columns change.
func TestClickHouse(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("this is for FEEDMILL_LONG=1; TestIcebird runs every time")
	}
	s := newStore(t, "")
	_, want, columns := s.history(true)
	found := runReader(t, "clickhouse", "clickhouse.mjs", s.folder)
	compareFound(t, found, want, columns, func(value any) int64 {
		at, err := time.Parse(time.RFC3339Nano, value.(string))
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMicro()
	})
}

// TestIcebergGo has iceberg-go read the metadata and plan a scan of every version.
func TestIcebergGo(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("this is for FEEDMILL_LONG=1; TestIcebird runs every time")
	}
	program, err := filepath.Abs("../../bin/tools/iceberg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the reader is not built; run make iceberg: %v", err)
	}
	s := newStore(t, "")
	metadata, _, _ := s.history(true)
	command := exec.CommandContext(t.Context(), program, s.table.Location+"/"+metadata.Path)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	at := s.table.Location + "/data/"
	want := map[string][]string{
		"1": {at + "a.parquet 200 3"},
		"2": {at + "a.parquet 200 3", at + "b.parquet 30 4"},
		"3": {at + "b.parquet 30 4", at + "c.parquet 10 4"},
		"4": {at + "joined.parquet 40 4"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("planned files differ (-want +got):\n%s", diff)
	}
}

// runReader runs a program of testdata with the packages that make installs.
func runReader(t *testing.T, with, program string, args ...string) (found foundRows) {
	t.Helper()
	modules, err := filepath.Abs("../../bin/tools/" + with)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "installed")); err != nil {
		t.Fatalf("independent readers are not installed; run make %s, which fetches them from the npm registry: %v", with, err)
	}
	command := exec.CommandContext(t.Context(), "node", append([]string{"testdata/" + program, filepath.Join(modules, "node_modules")}, args...)...)
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
