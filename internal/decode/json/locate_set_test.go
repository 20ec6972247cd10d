package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// A table in another shape is one at a path that is set, too, and was not under the first rules
// unless it is columns.
func TestShapesAtAPath(t *testing.T) {
	filings := `{"cik":"320193","addresses":{"city":"Cupertino"},"filings":{"recent":{"accessionNumber":["` + strings.Repeat(`0000320193-26-000001","`, 9) + `z"],"form":["` + strings.Repeat(`10-K","`, 9) + `8-K"]},"files":[{"name":"CIK-001.json","filingCount":1}]}}`
	for _, test := range []struct {
		name, text, path string
		// first and current are the names of the columns and how many rows there are, by the
		// first rules and by those of today.
		first, current string
	}{
		{"columns", `{"hourly":{"time":[1,2],"rain":[3,4]}}`, "$.hourly[*]", "[time rain] 2", "[time rain] 2"},
		{"columns without rows", `{"hourly":{"time":[],"rain":[]}}`, "$.hourly[*]", "[] 0", "[] 0"},
		{"rows with a header", `{"values":[["a","b"],[1,2],[3,4]]}`, "$.values[*]", "[value] 3", "[a b] 2"},
		{"rows without a header", `[[1,2],[3,4]]`, "$[*]", "[value] 2", "[column_1 column_2] 2"},
		{"some of the rows", `[["a","b"],[1,2],[3,4]]`, "$[1:]", "[value] 2", "[value] 2"},
		{"members", `{"rates":{"x":{"n":1},"y":{"n":2}}}`, "$.rates[*]", "[n] 2", "[_key n] 2"},
		{"members by another name", `{"rates":{"x":{"n":1},"y":{"n":2}}}`, "$.rates.*", "[n] 2", "[_key n] 2"},
		{"one member", `{"rates":{"x":{"n":1}}}`, "$.rates[*]", "[n] 1", "[_key n] 1"},
		{"members with nothing in common", `{"r":{"x":{"n":1},"y":{"m":2},"z":{"o":1}}}`, "$.r[*]", "[n m o] 3", "[n m o] 3"},
		{"the object around columns", `{"hourly":{"time":[1,2],"rain":[3,4]}}`, "$.hourly", "[time rain] 1", "[time rain] 1"},
		{"a list beside columns", filings, "$.filings.files[*]", "[name filingCount] 1", "[name filingCount] 1"},
		{"SEC EDGAR", filings, "", "[name filingCount] 1", "[accessionNumber form] 10"},
		{"columns that are not nearly all", `{"t":{"a":[1,2,3],"b":[1,2,3]},"rows":[{"id":1},{"id":2}]}`, "", "[id] 2", "[id] 2"},
	} {
		for rules, want := range map[feedmill.Rules]string{feedmill.RulesFirst: test.first, feedmill.RulesCurrent: test.current} {
			table, err := Open(t.Context(), strings.NewReader(test.text), Options{Path: test.path, Rules: rules, Temp: t.TempDir()})
			if err != nil {
				t.Errorf("%s, rules %d: %v", test.name, rules, err)
				continue
			}
			rows := decodetest.Rows(t, table)
			if got := fmt.Sprint(table.Names(), len(rows)); got != want {
				t.Errorf("%s, rules %d: %s, want %s", test.name, rules, got, want)
			}
			_ = table.Close()
		}
	}
}
