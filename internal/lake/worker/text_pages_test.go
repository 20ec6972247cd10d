package worker_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Texts that repeat too little for a dictionary are read back exactly, whole and behind a
// filter: pages without any value, short and long texts, and empty ones among nulls.
func TestPagesOfUniqueTexts(t *testing.T) {
	r, store := reader(t)
	in := &table{columns: []feedmill.Column{{Name: "id", Type: columnar.TypeInteger}, {Name: "text", Type: columnar.TypeText}}}
	const rows, page = 40_000, 8_192
	for i := range rows {
		var text cell
		switch {
		case i < page || i/page == 3, i%7 == 0: // two pages are all null
		case i%11 == 0:
			text = ""
		case i%1009 == 0:
			text = strings.Repeat(fmt.Sprint("é", i), 300)
		default:
			text = fmt.Sprintf("%05d-日本%d", i*7919%rows, i)
		}
		in.rows = append(in.rows, []cell{new(big.Rat).SetInt64(int64(i)), text})
	}
	v := in.write(t, store, "t.parquet")
	check := func(q feedmill.Query, want func(i int) bool) {
		t.Helper()
		at := 0
		for line := range strings.Lines(read(t, r, v, q, wire.FormatNDJSON)) {
			var row struct {
				ID   int
				Text *string
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			for at < rows && !want(at) {
				at++
			}
			if expected := in.rows[row.ID][1]; row.ID != at || (row.Text == nil) != (expected == nil) || row.Text != nil && *row.Text != expected {
				t.Fatalf("row %d is %s and should be row %d with %v", row.ID, line, at, expected)
			}
			at++
		}
		for ; at < rows; at++ {
			if want(at) {
				t.Fatalf("row %d is missing", at)
			}
		}
	}
	check(feedmill.Query{Now: now}, func(int) bool { return true })
	check(feedmill.Query{Now: now, Where: []feedmill.Condition{{Name: "id", Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: []feedmill.FilterValue{{Text: "35000"}}}}}}},
		func(i int) bool { return i > 35_000 })
}
