package worker_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Changes between versions with rows of a megabyte are read, whole and in pages, in less memory
// than they have.
func TestChangesOfLargeRows(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory = 36 << 20 })
	columns := []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}}
	write := func(name string, ids []int, text func(id int) string) *lake.Version {
		in := table{columns: columns}
		for _, id := range ids {
			in.rows = append(in.rows, []cell{big.NewRat(int64(id), 1), text(id) + strings.Repeat("é", 500_000)})
		}
		return in.write(t, store, name)
	}
	upTo := func(n int) (all []int) {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	old := write("old.parquet", append(upTo(24), 3, 3), func(id int) string { return fmt.Sprint(id) })
	fresh := write("new.parquet", append(upTo(27)[2:], 26), func(id int) string {
		if id%2 == 0 {
			return fmt.Sprint("other ", id)
		}
		return fmt.Sprint(id)
	})
	once := write("once.parquet", upTo(24), func(id int) string { return fmt.Sprint(id) })
	distinct := write("distinct.parquet", upTo(27)[2:], func(id int) string {
		if id%2 == 0 {
			return fmt.Sprint("other ", id)
		}
		return fmt.Sprint(id)
	})
	var byKey, byRow []string
	for _, id := range []int{0, 1} {
		byKey = append(byKey, fmt.Sprint("delete ", id))
	}
	for id := 2; id < 27; id++ {
		switch {
		case id >= 24:
			byKey = append(byKey, fmt.Sprint("insert ", id))
		case id%2 == 0:
			byKey = append(byKey, fmt.Sprint("update ", id))
		}
	}
	for id := range 24 {
		if id < 2 || id%2 == 0 || id == 3 {
			byRow = append(byRow, fmt.Sprint("delete ", id))
			if id == 3 { // there were three, and there is one
				byRow = append(byRow, "delete 3")
			}
		}
	}
	for id := 2; id < 27; id++ {
		if id%2 == 0 || id >= 24 {
			byRow = append(byRow, fmt.Sprint("insert ", id))
		}
	}
	byRow = append(byRow, "insert 26")
	for name, test := range map[string]struct {
		c    lake.Comparison
		want []string
	}{
		"by key":      {lake.Comparison{Old: once, New: distinct, Key: []string{"c1"}}, byKey},
		"by row":      {lake.Comparison{Old: old, New: fresh}, byRow},
		"without any": {lake.Comparison{Old: once, New: once, Key: []string{"c1"}}, nil},
	} {
		v, err := r.Changes(t.Context(), name, test.c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, limit := range []int64{0, 7} {
			if got := changesOf(t, r, &v, limit); !slices.Equal(got, test.want) {
				t.Errorf("%s in pages of %d: %v, want %v", name, limit, got, test.want)
			}
		}
	}
}

var changeHead = regexp.MustCompile(`^\{"_change":"(\w+)","id":(\d+),"text":"`)

// changesOf reads all pages of changes of rows of a megabyte.
func changesOf(t *testing.T, r *lake.Reader, v *lake.Version, limit int64) (all []string) {
	t.Helper()
	var after *lake.Cursor
	for {
		var out strings.Builder
		page, err := r.Read(t.Context(), v, feedmill.Query{Limit: limit}, wire.FormatNDJSON, after, &out)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			head := changeHead.FindStringSubmatch(line[:min(len(line), 100)])
			if head == nil || len(line) < 1_000_000 || (len(line) > 2_000_000) != (head[1] == "update") {
				t.Fatalf("a change of %d bytes: %.100s", len(line), line)
			}
			all = append(all, head[1]+" "+head[2])
		}
		if after = page.Next; after == nil {
			return all
		}
	}
}
