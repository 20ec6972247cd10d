package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// identified are columns whose ids are their numbers.
func identified(columns []feedmill.Column) []feedmill.Column {
	out := slices.Clone(columns)
	for i := range out {
		out[i].ID = fmt.Sprint("c", i+1)
	}
	return out
}

// keyOf is the key of a row as text that no other key has.
func keyOf(row []cell, keys []int) string {
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%q", fmt.Sprint(row[key])))
	}
	return strings.Join(parts, ",")
}

// merged is what becomes of rows that are merged, worked out one by one.
func merged(old, fresh [][]cell, keys []int) (out [][]cell) {
	last := map[string]int{}
	for i, row := range fresh {
		last[keyOf(row, keys)] = i
	}
	times, stays := map[string]int{}, map[string]bool{}
	for _, row := range old {
		times[keyOf(row, keys)]++
	}
	all := make([]int, len(kinds))
	for i := range all {
		all[i] = i
	}
	for _, row := range old {
		key := keyOf(row, keys)
		i, there := last[key]
		stays[key] = there && times[key] == 1 && keyOf(row, all) == keyOf(fresh[i], all)
		if !there || stays[key] {
			out = append(out, row)
		}
	}
	for i, row := range fresh {
		if key := keyOf(row, keys); last[key] == i && !stays[key] {
			out = append(out, row)
		}
	}
	return out
}

// Combined versions are what was written of the same rows at once, to the byte.
func TestCombinedVersionsAreLikeOthers(outer *testing.T) {
	r, store := reader(outer)
	columns := identified(kinds)
	n := 0
	rapid.Check(outer, func(t *rapid.T) {
		old, fresh := drawTable(t, rapid.IntRange(0, 40).Draw(t, "old rows")), drawTable(t, rapid.IntRange(0, 40).Draw(t, "new rows"))
		old.columns, fresh.columns = columns, columns
		for _, table := range []*table{old, fresh} {
			for _, row := range table.rows {
				row[0] = new(big.Rat).SetInt64(rapid.Int64Range(0, 30).Draw(t, "id"))
				if row[1] == nil {
					row[1] = ""
				}
			}
		}
		n++
		name := func(what string) string { return fmt.Sprintf("%s-%d", what, n) }
		c := lake.Combination{Old: old.write(t, store, name("old")), New: fresh.write(t, store, name("new")), Columns: columns}
		want := table{columns: columns, rows: slices.Concat(old.rows, fresh.rows)}
		superseded := 0
		if keys := rapid.SampledFrom([][]int{nil, {0}, {0, 1}}).Draw(t, "key"); keys != nil {
			want.rows = merged(old.rows, fresh.rows, keys)
			for _, key := range keys {
				c.Key = append(c.Key, columns[key].Name)
			}
			superseded = len(fresh.rows)
			different := map[string]bool{}
			for _, row := range fresh.rows {
				different[keyOf(row, keys)] = true
			}
			superseded -= len(different)
		}
		got, err := r.Combine(context.Background(), name("combined"), c)
		if err != nil {
			t.Fatal(err)
		}
		if int(got.Superseded.Rows) != superseded || len(got.Superseded.Examples) != min(superseded, 3) {
			t.Fatalf("%+v superseded, want %d", got.Superseded, superseded)
		}
		if int(got.Added+got.Superseded.Rows+got.Known) != len(fresh.rows) || int(got.Rows) != len(old.rows)-int(got.Replaced)+int(got.Added) {
			t.Fatalf("%d rows of %d and %d: %+v", got.Rows, len(old.rows), len(fresh.rows), got)
		}
		if whole := want.write(t, store, name("want")); got.Rows != whole.Rows || got.ContentHash != whole.ContentHash {
			t.Fatalf("%d rows, want %d:\n%s\nwant\n%s", got.Rows, whole.Rows,
				read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV), read(t, r, whole, feedmill.Query{}, wire.FormatCSV))
		}
	})
}

// one is a version of one column and a few rows.
func one(t *testing.T, store folder, name string, c feedmill.Column, values ...cell) *lake.Version {
	t.Helper()
	rows := make([][]cell, len(values))
	for i, value := range values {
		rows[i] = []cell{value}
	}
	return (&table{columns: []feedmill.Column{c}, rows: rows}).write(t, store, name)
}

func rat(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return n
}

func TestCombiningWidens(t *testing.T) {
	r, store := reader(t)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	of := func(kind columnar.Type, digits ...int) feedmill.Column {
		c := feedmill.Column{ID: "c1", Name: "a", Type: kind}
		if len(digits) > 0 {
			c.Precision, c.Scale = digits[0], digits[1]
		}
		return c
	}
	for i, test := range []struct {
		from   feedmill.Column
		values []cell
		to     feedmill.Column
		want   string
	}{
		{of(columnar.TypeInteger), []cell{rat("-5"), nil, rat("9223372036854775807")}, of(columnar.TypeDecimal, 21, 2), "-5.00,,9223372036854775807.00"},
		{of(columnar.TypeInteger), []cell{rat("-9223372036854775808")}, text, "-9223372036854775808"},
		{of(columnar.TypeDecimal, 4, 2), []cell{rat("0.05"), rat("-99.99")}, of(columnar.TypeDecimal, 30, 10), "0.0500000000,-99.9900000000"},
		{of(columnar.TypeDecimal, 4, 2), []cell{rat("0.05"), rat("-12.5")}, text, "0.05,-12.50"},
		{of(columnar.TypeDecimal, 3, 3), []cell{rat("0.5")}, text, "0.500"},
		{of(columnar.TypeDecimal, 38, 10), []cell{rat("-1234567890123456789012345678.0000000001")}, text, "-1234567890123456789012345678.0000000001"},
		{of(columnar.TypeNumber), []cell{1.0, 0.1, -2.5, 1e300}, text, "1,0.1,-2.5,1e+300"},
		{of(columnar.TypeBoolean), []cell{true, false, nil}, text, "true,false,"},
		{of(columnar.TypeDate), []cell{moment("2024-02-29"), moment("1969-12-31"), moment("0050-01-01")}, text, "2024-02-29,1969-12-31,0050-01-01"},
		{of(columnar.TypeDate), []cell{moment("2024-02-29"), moment("1969-12-31")}, of(columnar.TypeTimestamp), "2024-02-29T00:00:00Z,1969-12-31T00:00:00Z"},
		{
			of(columnar.TypeTimestamp),
			[]cell{moment("2024-02-29T12:30:00Z"), moment("2024-02-29T12:30:00.5Z"), moment("1969-12-31T23:59:59.999999Z"), moment("0999-01-01T00:00:00.000001Z")},
			text, `"2024-02-29T12:30:00Z","2024-02-29T12:30:00.500Z","1969-12-31T23:59:59.999999Z","0999-01-01T00:00:00.000001Z"`,
		},
		{of(columnar.TypeJSON), []cell{`{"a":[1, 2]}`}, text, `"{""a"":[1, 2]}"`},
		{of(columnar.TypeInteger), []cell{rat("-5"), nil}, of(columnar.TypeJSON), "-5,"},
		{of(columnar.TypeDecimal, 3, 3), []cell{rat("0.5")}, of(columnar.TypeJSON), "0.500"},
		{of(columnar.TypeNumber), []cell{1.0, 1e300, math.Inf(-1), nil}, of(columnar.TypeJSON), `1,1e+300,"""-inf""",`},
		{of(columnar.TypeBoolean), []cell{true}, of(columnar.TypeJSON), "true"},
		{of(columnar.TypeDate), []cell{moment("2024-02-29")}, of(columnar.TypeJSON), `"""2024-02-29"""`},
		{of(columnar.TypeTimestamp), []cell{moment("2024-02-29T12:30:00.5Z")}, of(columnar.TypeJSON), `"""2024-02-29T12:30:00.500Z"""`},
		{text, []cell{`say "hi"`, nil}, of(columnar.TypeJSON), `"""say \""hi\""""",`},
	} {
		old := one(t, store, fmt.Sprint("old", i), test.from, test.values...)
		fresh := one(t, store, fmt.Sprint("new", i), test.to)
		got, err := r.Combine(t.Context(), fmt.Sprint("both", i), lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{test.to}})
		if err != nil {
			t.Errorf("%s to %s: %v", test.from.Type, test.to.Type, err)
			continue
		}
		csv := strings.TrimSuffix(read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV), "\r\n")
		if rows := strings.ReplaceAll(strings.TrimPrefix(csv, "a\r\n"), "\r\n", ","); rows != test.want {
			t.Errorf("%s to %s: %s, want %s", test.from.Type, test.to.Type, rows, test.want)
		}
	}
}

func TestCombiningRefuses(t *testing.T) {
	r, store := reader(t)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	integer := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeInteger}
	words := one(t, store, "words", text, "x", nil, "y", nil)
	numbers := one(t, store, "numbers", integer, rat("1"))
	decimals := one(t, store, "decimals", feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeDecimal, Precision: 3, Scale: 2}, rat("1.25"))
	tight := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeDecimal, Precision: 3, Scale: 1}
	other := feedmill.Column{ID: "c2", Name: "b", Type: columnar.TypeText}
	pairs := (&table{columns: []feedmill.Column{text, other}, rows: [][]cell{{"x", "1"}, {"y", nil}}}).write(t, store, "pairs")
	for _, test := range []struct {
		name string
		lake.Combination
		want string
	}{
		{"a null key", lake.Combination{New: words, Columns: []feedmill.Column{text}, Key: []string{"a"}}, `row 2 is null in column "a"`},
		{"a key without a column", lake.Combination{New: words, Columns: []feedmill.Column{text}, Key: []string{"z"}}, `no column "z"`},
		{"a key that the rows lack", lake.Combination{New: words, Columns: []feedmill.Column{text, other}, Key: []string{"b"}}, `row 1 is null in column "b"`},
		{"a null in the second column of the key", lake.Combination{New: pairs, Columns: []feedmill.Column{text, other}, Key: []string{"a", "b"}}, `row 2 is null in column "b"`},
		{"a null in the first column of the key", lake.Combination{New: pairs, Columns: []feedmill.Column{text, other}, Key: []string{"b", "a"}}, `row 2 is null in column "b"`},
		{"a second column of the key that the rows lack", lake.Combination{New: numbers, Columns: []feedmill.Column{integer, other}, Key: []string{"a", "b"}}, `row 1 is null in column "b"`},
		{"text as numbers", lake.Combination{Old: words, New: numbers, Columns: []feedmill.Column{integer}}, "without loss"},
		{"digits that are lost", lake.Combination{Old: decimals, New: numbers, Columns: []feedmill.Column{tight}}, "without loss"},
	} {
		_, err := r.Combine(t.Context(), test.name, test.Combination)
		if !errors.Is(err, feedmill.ErrUnprocessable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}

func TestMergingIntoNothing(t *testing.T) {
	r, store := reader(t)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	distinct, repeated := one(t, store, "distinct", text, "x", "y"), one(t, store, "repeated", text, "x", "y", "x")
	for _, old := range []*lake.Version{nil, one(t, store, "none", text), {}} {
		c := lake.Combination{Old: old, New: distinct, Columns: []feedmill.Column{text}, Key: []string{"a"}}
		if got, err := r.Combine(t.Context(), "unused", c); err != nil || got.Files[0].Name != "distinct" {
			t.Errorf("%+v, %v, want the version itself", got, err)
		}
	}
	got, err := r.Combine(t.Context(), "merged", lake.Combination{New: repeated, Columns: []feedmill.Column{text}, Key: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV); rows != "a\r\ny\r\nx\r\n" {
		t.Errorf("rows %q", rows)
	}
}

// Columns that one of the versions lacks are null in its rows.
func TestCombiningOtherColumns(t *testing.T) {
	r, store := reader(t)
	a, b := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}, feedmill.Column{ID: "c2", Name: "b", Type: columnar.TypeText}
	old, fresh := one(t, store, "old", a, "x"), one(t, store, "new", b, "y")
	got, err := r.Combine(t.Context(), "both", lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{a, b}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV); rows != "a,b\r\nx,\r\n,y\r\n" {
		t.Errorf("rows %q", rows)
	}
	// A key that the old rows do not have replaces none of them.
	got, err = r.Combine(t.Context(), "merged", lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{a, b}, Key: []string{"b"}})
	if err != nil || got.Rows != 2 {
		t.Errorf("%d rows, error %v", got.Rows, err)
	}
}

// Keys are compared as what they have become: 1 and "1" are the same text.
func TestMergingByAWidenedKey(t *testing.T) {
	r, store := reader(t)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	old := one(t, store, "old", feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeInteger}, rat("1"), rat("2"))
	got, err := r.Combine(t.Context(), "both", lake.Combination{Old: old, New: one(t, store, "new", text, "2", "02"), Columns: []feedmill.Column{text}, Key: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV); rows != "a\r\n1\r\n2\r\n02\r\n" {
		t.Errorf("rows %q", rows)
	}
}

// A version that has lost its file, or a worker that ends, leaves nothing behind.
func TestCombiningFails(t *testing.T) {
	r, store := reader(t)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	there := one(t, store, "there", text, "x")
	gone := *there
	gone.Files = []feedmill.VersionFile{{Name: "gone", Rows: 1}}
	if _, err := r.Combine(t.Context(), "both", lake.Combination{Old: &gone, New: there, Columns: []feedmill.Column{text}, Key: []string{"a"}}); err == nil {
		t.Error("combined with a file that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Combine(ctx, "both", lake.Combination{Old: there, New: there, Columns: []feedmill.Column{text}, Key: []string{"a"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if lease, _ := store.Lease(ctx, "both"); fileExists(lease.Path) {
		t.Error("something is left")
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
