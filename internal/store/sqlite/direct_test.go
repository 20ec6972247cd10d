package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// openDirect is a writing connection with a table to try things on.
func openDirect(t *testing.T) *direct {
	t.Helper()
	pool, err := sql.Open("sqlite3", dsn(filepath.Join(t.TempDir(), "direct.db")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDirect(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.close()
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	mustExec(t, d, `CREATE TABLE things (number INTEGER PRIMARY KEY, name TEXT UNIQUE, bytes BLOB) STRICT`)
	return d
}

func mustExec(t *testing.T, d *direct, query string, args ...any) {
	t.Helper()
	if _, err := d.exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func TestDirectKeepsValues(t *testing.T) {
	d := openDirect(t)
	type thing struct {
		number int64
		name   string
		bytes  []byte
	}
	things := []thing{
		{math.MinInt64, "", nil},
		{-1, "with a \x00 in it", []byte{}},
		{0, "größer", []byte{0, 1, 255}},
		{math.MaxInt64, strings.Repeat("long", firstRowsRoom), bytes.Repeat([]byte("wide"), firstRowsRoom)},
	}
	for _, want := range things {
		mustExec(t, d, `INSERT INTO things VALUES (?, ?, ?)`, want.number, want.name, want.bytes)
	}
	var got []thing
	err := d.each(`SELECT number, name, bytes FROM things WHERE number >= ? ORDER BY number`, []any{int64(math.MinInt64)}, func(r *row) {
		got = append(got, thing{r.int(), r.text("größer"), r.blob()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, things, func(a, b thing) bool {
		return a.number == b.number && a.name == b.name && bytes.Equal(a.bytes, b.bytes) && (a.bytes == nil) == (b.bytes == nil)
	}) {
		t.Errorf("%d things came back other than they went in", len(got))
	}
}

func TestDirectTakesTheDomainsTypes(t *testing.T) {
	d := openDirect(t)
	for _, c := range []struct {
		arg  any
		want int64
	}{
		{nil, -1},
		{sql.NullInt64{}, -1},
		{sql.NullInt64{Int64: 7, Valid: true}, 7},
		{7, 7},
		{true, 1},
		{false, 0},
		{feedmill.ID("7"), 7},
		{feedmill.SubscriptionState("7"), 7},
	} {
		got := int64(-2)
		err := d.each(`SELECT coalesce(CAST(? AS INTEGER), -1)`, []any{c.arg}, func(r *row) { got = r.int() })
		if err != nil || got != c.want {
			t.Errorf("%T %v became %d, %v; want %d", c.arg, c.arg, got, err, c.want)
		}
	}
	for _, arg := range []any{1.5, time.Now(), struct{}{}} {
		if _, err := d.exec(`SELECT ?`, arg); err == nil {
			t.Errorf("a %T was taken", arg)
		}
	}
}

func TestDirectRunsAStatementOverAndOver(t *testing.T) {
	d := openDirect(t)
	var v values
	for i := range int64(5) {
		v.int(2 * i)
		v.null()
		v.null()
	}
	if err := d.run(`INSERT INTO things VALUES (?, ?, ?)`, &v, 3, nil); err != nil || d.result.last != 4 {
		t.Fatalf("the last of three rows has the number %d, %v", d.result.last, err)
	}
	if err := d.run(`INSERT INTO things VALUES (?, ?, ?), (?, ?, ?)`, &v, 1, nil); err != nil || d.result.last != 8 {
		t.Fatalf("the last of five rows has the number %d, %v", d.result.last, err)
	}
	v.reset()
	for _, number := range []int64{4, 5, 8} {
		v.int(number)
	}
	changed := make([]bool, 3)
	if err := d.run(`UPDATE things SET name = 'x' || number WHERE number = ?`, &v, 3, changed); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(changed, []bool{true, false, true}) || d.result.changes != 2 {
		t.Errorf("changed %v, %d rows", changed, d.result.changes)
	}
}

// A query that takes several calls goes on with the values that it began with,
// whatever has become of the memory that they were given in.
func TestDirectKeepsTheValuesOfAQuery(t *testing.T) {
	d := openDirect(t)
	wide := bytes.Repeat([]byte("w"), firstRowsRoom/4)
	for i := range 20 {
		mustExec(t, d, `INSERT INTO things VALUES (?, ?, ?)`, i, strings.Repeat("x", i+1), wide)
	}
	found := 0
	err := d.each(`SELECT bytes FROM things WHERE substr(name, 1, 1) = ? ORDER BY number`, []any{"x"}, func(r *row) {
		r.blob()
		found++
		mustExec(t, d, `UPDATE things SET bytes = bytes WHERE name = ?`, "no such name, and longer than the other")
	})
	if err != nil || found != 20 {
		t.Errorf("%d things of 20, %v", found, err)
	}
}

func TestDirectErrors(t *testing.T) {
	d := openDirect(t)
	mustExec(t, d, `INSERT INTO things VALUES (1, 'one', NULL)`)
	if _, err := d.exec(`INSERT INTO things VALUES (?, ?, NULL)`, 2, "one"); !errors.Is(err, feedmill.ErrConflict) || !strings.Contains(err.Error(), "things.name") {
		t.Errorf("a name that is taken: %v", err)
	}
	// The statement is as good as before.
	mustExec(t, d, `INSERT INTO things VALUES (?, ?, NULL)`, 2, "two")
	if _, err := d.exec(`INSERT INTO nothing VALUES (?)`, 1); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a table that is not there: %v", err)
	}
	mustExec(t, d, `PRAGMA query_only = 1`)
	if _, err := d.exec(`DELETE FROM things`); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("a file that is read-only: %v", err)
	}
	err := d.each(`SELECT abs(number) FROM (SELECT 1 AS number UNION ALL SELECT -9223372036854775808)`, nil, func(*row) {})
	if err == nil || !strings.Contains(err.Error(), "overflow") {
		t.Errorf("a query that fails on its way: %v", err)
	}
}
