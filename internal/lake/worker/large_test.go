package worker_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// largeRows is a version of rows of some megabytes, with all sorts of characters, and their texts.
func largeRows(t *testing.T, store folder) (*lake.Version, []string) {
	t.Helper()
	in := table{columns: []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}, {ID: "c3", Name: "json", Type: columnar.TypeJSON}}}
	var texts []string
	for i := range 16 {
		text := fmt.Sprint(i)
		if i%4 != 3 {
			text = strings.Repeat(fmt.Sprintf("=%d, \"ä\"\n\t\x01\\", i), 100_000) // 1.6 MB
		}
		texts = append(texts, text)
		in.rows = append(in.rows, []cell{big.NewRat(int64(i), 1), text, "[" + strings.Repeat("1,\n", 100) + "1]"})
	}
	v := in.write(t, store, "large.parquet")
	if len(v.Files[0].Cuts) < 2 {
		t.Fatalf("the file is cut at %v", v.Files[0].Cuts)
	}
	return v, texts
}

// Large rows come back in every format that holds them, although the worker could not
// hold them all.
func TestLargeRows(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory = 52 << 20 })
	v, texts := largeRows(t, store)
	for format, parse := range map[wire.Format]func(string) []string{
		wire.FormatNDJSON: func(out string) []string {
			return textsOfJSON(t, "["+strings.ReplaceAll(strings.TrimSpace(out), "\n", ",")+"]")
		},
		wire.FormatJSON:     func(out string) []string { return textsOfJSON(t, out) },
		wire.FormatCSV:      func(out string) []string { return textsOfCSV(t, out, "") },
		wire.FormatExcelCSV: func(out string) []string { return textsOfCSV(t, strings.TrimPrefix(out, "\ufeff"), "'") },
		wire.FormatArrow:    func(out string) []string { return textsOfArrow(t, out) },
	} {
		if got := parse(read(t, r, v, feedmill.Query{}, format)); !slices.Equal(got, texts) {
			t.Errorf("%s gives %d rows that are not those that were written", format, len(got))
		}
	}
	if got := read(t, r, v, feedmill.Query{}, wire.FormatParquet); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
		t.Error("no Parquet file")
	}
	filtered := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Where: []feedmill.Condition{{Name: "id", Filters: []feedmill.Filter{{Op: feedmill.OpGte, Values: []feedmill.FilterValue{{Text: "9"}}}}}}}
	if got := ids(t, read(t, r, v, filtered, wire.FormatNDJSON)); !slices.Equal(got, []string{"9", "10", "11", "12", "13", "14", "15"}) {
		t.Errorf("filtered: %v", got)
	}
	if n, err := r.Count(t.Context(), v, filtered); err != nil || n != 7 {
		t.Errorf("%d rows are counted, %v", n, err)
	}
}

// Pages of large rows are the whole, also where one ends at a cut.
func TestPagesOfLargeRows(t *testing.T) {
	r, store := reader(t)
	v, texts := largeRows(t, store)
	for limit := range int64(len(texts) + 1) {
		q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Limit: limit + 1}
		var got []string
		var after *lake.Cursor
		for {
			var out strings.Builder
			page, err := r.Read(t.Context(), v, q, wire.FormatNDJSON, after, &out)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ids(t, out.String())...)
			if after = page.Next; after == nil {
				break
			}
		}
		if len(got) != len(texts) || !slices.IsSortedFunc(got, func(a, b string) int { return len(a) - len(b) }) || len(slices.Compact(slices.Clone(got))) != len(texts) {
			t.Errorf("pages of %d rows: %v", limit+1, got)
		}
	}
	for _, offset := range []int64{0, 5, 15, 16} {
		q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Offset: offset}
		if got := ids(t, read(t, r, v, q, wire.FormatNDJSON)); int64(len(got)) != 16-offset {
			t.Errorf("from row %d: %v", offset, got)
		}
	}
}

func textsOfJSON(t *testing.T, out string) (texts []string) {
	t.Helper()
	var rows []struct{ Text string }
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		texts = append(texts, row.Text)
	}
	return texts
}

func textsOfCSV(t *testing.T, out, prefix string) (texts []string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		texts = append(texts, strings.TrimPrefix(row[1], prefix))
	}
	return texts
}

func textsOfArrow(t *testing.T, out string) (texts []string) {
	t.Helper()
	s, err := ipc.NewReader(bytes.NewReader([]byte(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	for s.Next() {
		column := s.RecordBatch().Column(1).(*array.String)
		size := 0
		for i := range column.Len() {
			texts = append(texts, strings.Clone(column.Value(i)))
			size += len(column.Value(i))
		}
		if column.Len() > 1 && size > 20<<20 {
			t.Errorf("a batch has %d bytes of text", size)
		}
	}
	return texts
}

// Rows are merged although all of them are larger than the memory of a worker. Of two large
// texts one that differs in its last character is another one.
func TestMergingLargeRows(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory, c.Threads, c.Temp, c.TempBytes = 52<<20, 2, t.TempDir(), 4<<30 })
	columns := []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}}
	write := func(name string, from, to int, end func(i int) string) *lake.Version {
		in := table{columns: columns}
		for i := from; i < to; i++ {
			in.rows = append(in.rows, []cell{big.NewRat(int64(i), 1), strings.Repeat(fmt.Sprintf("text %d ", i), 1<<17) + end(i)}) // 1 MB
		}
		return in.write(t, store, name)
	}
	old := write("old", 0, 24, func(int) string { return "a" })
	fresh := write("fresh", 4, 28, func(i int) string { return []string{"a", "b"}[i%2] })
	got, err := r.Combine(t.Context(), "merged", lake.Combination{Old: old, New: fresh, Columns: columns, Key: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 28 || got.Replaced != 10 || got.Added != 14 || got.Known != 10 {
		t.Errorf("%d rows, %d replaced, %d added, %d known", got.Rows, got.Replaced, got.Added, got.Known)
	}
}

// The profile of large texts needs no more memory than one of them.
func TestProfileOfLargeRows(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory = 52 << 20 })
	in := table{columns: []feedmill.Column{{ID: "c1", Name: "text", Type: columnar.TypeText}}}
	for i := range 60 { // of which every third is the same
		in.rows = append(in.rows, []cell{strings.Repeat(fmt.Sprintf("text %d ", max(i%3*i, 1)), 1<<17) + "end"})
	}
	v := in.write(t, store, "profiled.parquet")
	p, err := r.Profile(t.Context(), v, feedmill.Query{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns[0]
	if head := strings.Repeat("text 1 ", 29)[:200]; len(c.Top) != 10 || string(c.Top[0].Value) != `"`+head+`"` || c.Top[0].Count != 21 || c.Top[1].Count != 2 || c.Distinct != 30 || !c.DistinctExact {
		t.Errorf("the most frequent are %.300s of %d, %d distinct", c.Top[0].Value, c.Top[0].Count, c.Distinct)
	}
	if c.MaxLength == nil || !strings.HasPrefix(string(c.Min), `"text 1 text 1 `) || !strings.HasPrefix(string(c.Max), `"text 94 text 94`) || len(c.Min) != 202 {
		t.Errorf("from %.30s to %.30s", c.Min, c.Max)
	}
}
