package worker_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Rows of a megabyte are sorted by every kind of key, whole and in pages, in less memory than they
// have. Texts that begin alike are told apart, up to a bound.
func TestSortOfLargeRows(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory = 36 << 20 })
	in := table{columns: []feedmill.Column{
		{ID: "c1", Name: "id", Type: columnar.TypeInteger},
		{ID: "c2", Name: "few", Type: columnar.TypeText, Nullable: true},
		{ID: "c3", Name: "text", Type: columnar.TypeText},
		{ID: "c4", Name: "alike", Type: columnar.TypeText},
	}}
	const rows = 30
	for i := range rows {
		few := cell(fmt.Sprint(i % 3))
		if i%7 == 0 {
			few = nil
		}
		text := strings.Repeat("a", 2000) + fmt.Sprintf("%03d", i*37%rows) + strings.Repeat("t", 1_000_000)
		in.rows = append(in.rows, []cell{big.NewRat(int64(i), 1), few, text, strings.Repeat("x", 300_000) + fmt.Sprint(i)})
	}
	v := in.write(t, store, "sorted.parquet")
	byText := func(a, b int) int { return a*37%rows - b*37%rows }
	byFew := func(a, b int) int {
		if null := (a % 7 * b % 7) == 0; null && a%7 != b%7 && (a%7 == 0) != (b%7 == 0) {
			if a%7 == 0 {
				return 1
			}
			return -1
		} else if a%7 == 0 {
			return byText(b, a)
		}
		if d := a%3 - b%3; d != 0 {
			return d
		}
		return byText(b, a)
	}
	for name, test := range map[string]struct {
		sort []feedmill.Sort
		less func(a, b int) int
	}{
		"number": {[]feedmill.Sort{{Name: "id", Descending: true}}, func(a, b int) int { return b - a }},
		"text":   {[]feedmill.Sort{{Name: "text"}}, byText},
		"both":   {[]feedmill.Sort{{Name: "few"}, {Name: "text", Descending: true}}, byFew},
	} {
		want := make([]int, rows)
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, test.less)
		limits := []int64{13}
		if os.Getenv("FEEDMILL_LONG") != "" {
			limits = append(limits, 0)
		}
		for _, limit := range limits {
			got := sortedIDs(t, r, v, feedmill.Query{Sort: test.sort, Limit: limit})
			if !slices.Equal(got, want) {
				t.Errorf("by %s in pages of %d: %v, want %v", name, limit, got, want)
			}
		}
		const offset = 20
		where := []feedmill.Condition{{Name: "id", Filters: []feedmill.Filter{{Op: feedmill.OpGte, Values: []feedmill.FilterValue{{Text: "5"}}}}}}
		want = slices.DeleteFunc(want, func(id int) bool { return id < 5 })[offset:]
		if got := sortedIDs(t, r, v, feedmill.Query{Sort: test.sort, Where: where, Offset: offset}); !slices.Equal(got, want) {
			t.Errorf("by %s from %d: %v, want %v", name, offset, got, want)
		}
	}
	none := []feedmill.Condition{{Name: "id", Filters: []feedmill.Filter{{Op: feedmill.OpLt, Values: []feedmill.FilterValue{{Text: "0"}}}}}}
	if got := sortedIDs(t, r, v, feedmill.Query{Sort: []feedmill.Sort{{Name: "id"}}, Where: none}); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
	var problem *feedmill.Error
	_, err := r.Read(t.Context(), v, feedmill.Query{Sort: []feedmill.Sort{{Name: "alike"}}}, wire.FormatNDJSON, nil, new(strings.Builder))
	if !errors.As(err, &problem) || problem.Type != "query-too-large" {
		t.Errorf("texts that begin alike: %v", err)
	}
}

// sortedIDs reads all pages of a query over rows of a megabyte.
func sortedIDs(t *testing.T, r *lake.Reader, v *lake.Version, q feedmill.Query) (ids []int) {
	t.Helper()
	var after *lake.Cursor
	for {
		var out strings.Builder
		page, err := r.Read(t.Context(), v, q, wire.FormatNDJSON, after, &out)
		if err != nil {
			t.Fatalf("%+v: %v", q.Sort, err)
		}
		for line := range strings.Lines(out.String()) {
			// The whole is not decoded, which would take most of the time.
			var id int
			if _, err := fmt.Sscanf(line[:20], `{"id":%d,`, &id); err != nil || len(line) < 1_302_003 {
				t.Fatalf("a row of %d bytes, %v", len(line), err)
			}
			ids = append(ids, id)
		}
		if after = page.Next; after == nil {
			return ids
		}
		if n := len(after.String()); n > 4096 {
			t.Fatalf("a cursor of %d bytes", n)
		}
	}
}
