package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// warningOf is the warning of a code that a feed has, nil for none.
func warningOf(f restFeed, code string) *feedmill.Warning {
	i := slices.IndexFunc(f.Warnings, func(w feedmill.Warning) bool { return w.Code == code })
	if i < 0 {
		return nil
	}
	return &f.Warnings[i]
}

// TestIncrementalLosesNothing: rows without a cursor are fetched by their key or counted,
// and one far ahead does not hide what comes after it.
func TestIncrementalLosesNothing(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder, "FEEDMILL_DATA="+data)})
	for _, test := range []struct {
		name string
		open func(testing.TB) *realDatabase
	}{
		{"postgres", realPostgres},
		{"sqlite", func(t testing.TB) *realDatabase { return realSQLite(t, folder) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := test.open(t)
			db.do(t, "CREATE TABLE orders (id integer PRIMARY KEY, total integer, changed timestamp)",
				"INSERT INTO orders VALUES (1, 10, '2026-01-01 10:00:00'), (2, 20, NULL), (3, 30, '9999-12-31 00:00:00')")
			s.connectTo(t, db, test.name)
			spec := `{"serviceName":"` + test.name + `","viewName":"orders","query":{"fields":[{"field":"id"},{"field":"total"},{"field":"changed"}]},"incremental":{"field":"changed"}`
			keyed := s.queried(t, spec+`,"mode":"merge","key":["id"]}`)
			added := s.queried(t, spec+`,"mode":"append"}`)
			for _, f := range []restFeed{keyed, added} {
				if w := warningOf(f, feedmill.WarnNullCursor); f.RowCount != 3 || w == nil || w.Count != 1 || w.Column != "changed" {
					t.Fatalf("%d rows, %+v", f.RowCount, f.Warnings)
				}
				if w := warningOf(f, feedmill.WarnCursorAhead); w == nil || w.Count != 1 {
					t.Fatalf("%+v", f.Warnings)
				}
			}
			db.do(t, "CREATE TABLE counted (id integer)", "INSERT INTO counted VALUES (1), (2), (3)")
			counted := s.queried(t, `{"serviceName":"`+test.name+`","viewName":"counted","query":{"fields":[{"field":"id"}]},"incremental":{"field":"id"},"mode":"append"}`)
			for step, behind := range []bool{true, false} { // a row, and none
				if db.do(t, "DELETE FROM counted"); behind {
					db.do(t, "INSERT INTO counted VALUES (1)")
				}
				if f, r := s.refreshed(t, counted.ID); r.warns(feedmill.WarnCursorBehind) != behind || f.RowCount != 3 {
					t.Errorf("step %d: %d rows, %+v", step, f.RowCount, r.Warnings)
				}
			}
			db.do(t, "INSERT INTO orders VALUES (4, 40, '2026-01-02 10:00:00'), (5, 50, NULL)", "UPDATE orders SET total = 21 WHERE id = 2")
			keyed, _ = s.refreshed(t, keyed.ID)
			if got := s.read(t, keyed.ID, "&fields=id,total&sort=id"); got != `{"id":1,"total":10}`+"\n"+`{"id":2,"total":21}`+"\n"+`{"id":3,"total":30}`+"\n"+`{"id":4,"total":40}`+"\n"+`{"id":5,"total":50}`+"\n" {
				t.Error(got)
			}
			if w := warningOf(keyed, feedmill.WarnNullCursor); w == nil || w.Count != 2 || !strings.Contains(w.Detail, "fetched at every refresh") {
				t.Errorf("%+v", keyed.Warnings)
			}
			added, _ = s.refreshed(t, added.ID)
			if got := s.read(t, added.ID, "&fields=id,total&sort=id"); got != `{"id":1,"total":10}`+"\n"+`{"id":2,"total":20}`+"\n"+`{"id":3,"total":30}`+"\n"+`{"id":4,"total":40}`+"\n" {
				t.Error(got)
			}
			if w := warningOf(added, feedmill.WarnNullCursor); w == nil || w.Count != 2 || !strings.Contains(w.Detail, "not fetched. Set key") {
				t.Errorf("%+v", added.Warnings)
			}
			// An earlier release stopped at the time that is far ahead.
			store := openDatabase(t, "sqlite3", filepath.Join(data, storeFile), "sqlite", nil)
			store.do(t, fmt.Sprintf(`UPDATE feeds SET position = CAST('{"latest":"9999-12-31T00:00:00Z"}' AS BLOB) WHERE id IN ('%s', '%s')`, keyed.ID, added.ID))
			db.do(t, "INSERT INTO orders VALUES (6, 60, '2026-01-03 10:00:00')")
			for _, id := range []string{keyed.ID, added.ID} {
				f, r := s.refreshed(t, id)
				if got := s.read(t, id, "&fields=id&filter=id:gt:3&sort=id"); !strings.HasSuffix(got, `{"id":6}`+"\n") {
					t.Errorf("%s %+v", got, r)
				}
				if w := warningOf(f, feedmill.WarnCursorAhead); w == nil || !strings.Contains(w.Detail, "computed again") {
					t.Errorf("%+v", f.Warnings)
				}
				if _, r = s.refreshed(t, id); *r.Outcome != "unchanged" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// TestNullCursorsAreBounded: at most 100,000 rows without a cursor are fetched by a refresh, and all
// of them are counted.
func TestNullCursorsAreBounded(t *testing.T) {
	t.Parallel()
	const nulls = database.MaxNullCursors + 50
	s := start(t, webhooks)
	db := realPostgres(t)
	s.connectTo(t, db, "shop")
	db.do(t, "CREATE TABLE orders (id integer PRIMARY KEY, changed integer)", fmt.Sprintf("INSERT INTO orders SELECT n, NULL FROM generate_series(1, %d) n", nulls), "INSERT INTO orders VALUES (0, 7)")
	f := s.queried(t, `{"serviceName":"shop","viewName":"orders","query":{"fields":[{"field":"id"},{"field":"changed"}]},"incremental":{"field":"changed"},"mode":"merge","key":["id"]}`)
	if w := warningOf(f, feedmill.WarnNullCursor); f.RowCount != nulls+1 || w == nil || w.Count != nulls {
		t.Fatalf("%d rows, %+v", f.RowCount, f.Warnings)
	}
	db.do(t, "INSERT INTO orders VALUES (-1, 8)")
	f, r := s.refreshed(t, f.ID)
	// The rows with the greatest value come again, and the new one.
	if f.RowCount != nulls+2 || r.RowsIn != database.MaxNullCursors+2 {
		t.Errorf("%d rows, %d came: %+v", f.RowCount, r.RowsIn, r.Error)
	}
	if w := warningOf(f, feedmill.WarnNullCursor); w == nil || w.Count != nulls || !strings.Contains(w.Detail, "fetches 100000 of them, the maximum") {
		t.Errorf("%+v", f.Warnings)
	}
}
