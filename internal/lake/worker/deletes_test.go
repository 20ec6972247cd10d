package worker_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// remaining is what becomes of rows that are merged by their first column while some of the
// new ones mark deletions, worked out one by one.
func remaining(old, fresh [][]cell, marked []bool, d lake.Deletes) (out [][]cell) {
	key := []int{0}
	all := make([]int, len(kinds))
	for i := range all {
		all[i] = i
	}
	last, times, stays := map[string]int{}, map[string]int{}, map[string]bool{}
	for i, row := range fresh {
		if !marked[i] || !d.Ignore {
			last[keyOf(row, key)] = i
		}
	}
	for _, row := range old {
		times[keyOf(row, key)]++
	}
	for _, row := range old {
		of := keyOf(row, key)
		i, there := last[of]
		stays[of] = there && !marked[i] && times[of] == 1 && keyOf(row, all) == keyOf(fresh[i], all)
		// Nothing is known to be gone where nothing came.
		if !there && (!d.Rest || len(fresh) == 0) || stays[of] {
			out = append(out, row)
		}
	}
	for i, row := range fresh {
		if of := keyOf(row, key); !marked[i] && last[of] == i && !stays[of] {
			out = append(out, row)
		}
	}
	return out
}

func TestCombiningDeletes(outer *testing.T) {
	r, store := reader(outer)
	columns := identified(kinds)
	mark := feedmill.Column{ID: "mark", Name: "mark", Type: columnar.TypeBoolean, Nullable: true}
	n := 0
	rapid.Check(outer, func(t *rapid.T) {
		old, fresh := drawTable(t, rapid.IntRange(0, 40).Draw(t, "old rows")), drawTable(t, rapid.IntRange(0, 40).Draw(t, "new rows"))
		old.columns = columns
		id := func(row []cell) { row[0] = new(big.Rat).SetInt64(rapid.Int64Range(0, 20).Draw(t, "id")) }
		for _, row := range old.rows {
			id(row)
		}
		marked, deletions := make([]bool, len(fresh.rows)), 0
		plain := slices.Clone(fresh.rows)
		for i := range fresh.rows {
			if len(old.rows) > 0 && rapid.Bool().Draw(t, "again") {
				fresh.rows[i] = slices.Clone(rapid.SampledFrom(old.rows).Draw(t, "old row"))
			} else {
				id(fresh.rows[i])
			}
			plain[i] = fresh.rows[i]
			var cell cell
			if marked[i] = rapid.Bool().Draw(t, "marked"); marked[i] {
				cell = rapid.Bool().Draw(t, "mark")
				deletions++
			}
			fresh.rows[i] = append(slices.Clone(fresh.rows[i]), cell)
		}
		fresh.columns = append(slices.Clone(columns), mark)
		d := lake.Deletes{Mark: mark.ID, Ignore: rapid.Bool().Draw(t, "ignore"), Rest: rapid.Bool().Draw(t, "rest")}
		n++
		name := func(what string) string { return fmt.Sprintf("%s-%d", what, n) }
		got, err := r.Combine(context.Background(), name("combined"), lake.Combination{
			Old: old.write(t, store, name("old")), New: fresh.write(t, store, name("new")), Columns: columns, Key: []string{columns[0].Name}, Deletes: d,
		})
		if err != nil {
			t.Fatal(err)
		}
		if int(got.Added+got.Superseded.Rows+got.Known) != len(fresh.rows)-deletions || int(got.Deletions) != deletions {
			t.Fatalf("%d rows and %d deletions: %+v", len(fresh.rows)-deletions, deletions, got)
		}
		want := table{columns: columns, rows: remaining(old.rows, plain, marked, d)}
		if whole := want.write(t, store, name("want")); got.Rows != whole.Rows || got.ContentHash != whole.ContentHash {
			t.Fatalf("%+v: %d rows, want %d:\n%s\nwant\n%s", d, got.Rows, whole.Rows,
				read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV), read(t, r, whole, feedmill.Query{}, wire.FormatCSV))
		}
	})
}
