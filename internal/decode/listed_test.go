package decode

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// Where the records were a list, something else is no record: neither on a later page nor
// in the next fetch. What is said in their place must not become rows.
func TestRecordsStayAList(t *testing.T) {
	found := func(path string) feedmill.Findings {
		return feedmill.Findings{Path: feedmill.Finding{Value: path, By: feedmill.ByFound}}
	}
	const list, wrapped = `[{"id":1},{"id":2}]`, `{"data":[{"id":1},{"id":2}]}`
	for _, test := range []struct {
		name    string
		options Options
		pages   []string
		rows    int64 // -1 where it is refused
	}{
		{"a message on a later page", Options{List: true}, []string{list, `{"message":"slow down","code":9}`}, -1},
		{"an error on a later page", Options{List: true}, []string{list, `{"error":{"code":9}}`}, -1},
		{"a list below", Options{List: true}, []string{list, wrapped}, -1},
		{"a text on a later page", Options{List: true}, []string{list, `"slow down"`}, -1},
		{"an empty object on a later page", Options{List: true}, []string{list, `{}`}, 2},
		{"null on a later page", Options{List: true}, []string{list, `null`}, 2},
		{"an object on a later page", Options{List: true}, []string{wrapped, `{"data":{"id":3}}`}, -1},
		{"nothing on a later page", Options{List: true}, []string{wrapped, `{"message":"no more"}`}, 2},
		{"a message in the next fetch", Options{Before: found("$[*]")}, []string{`{"message":"slow down","code":9}`}, -1},
		{"an error in the next fetch", Options{Before: found("$[*]")}, []string{`{"error":{"code":9}}`}, -1},
		{"a list below in the next fetch", Options{Before: found("$[*]")}, []string{`{"count":2,"data":[{"id":1},{"id":2}]}`}, -1},
		{"a text in the next fetch", Options{Before: found("$.data[*]")}, []string{`{"data":"slow down"}`}, -1},
		{"false in the next fetch", Options{Before: found("$.data[*]")}, []string{`{"data":false}`}, 0},
		{"one named object in the next fetch", Options{Before: found("$.data[*]")}, []string{`{"data":{"eur":{"id":1}}}`}, 1},
		{"a message at a path", Options{Path: "$[*]"}, []string{list, `{"message":"slow down","code":9}`}, -1},
		{"a text at a path", Options{Path: "$.data[*]"}, []string{`{"data":"slow down"}`}, -1},
		{"members by a path", Options{Path: "$.data.*"}, []string{`{"data":{"eur":1,"usd":2}}`}, 2},
		{"named objects by a path", Options{Path: "$.data[*]"}, []string{`{"data":{"eur":{"id":1},"usd":{"id":2}}}`}, 2},
		{"the list by a path", Options{Path: "$.data"}, []string{wrapped, `{"data":[{"id":3}]}`}, 3},
		{"an empty list by a path", Options{Path: "$.data"}, []string{`{"data":[]}`}, 0},
		{"an object by a path", Options{Path: "$.data"}, []string{`{"data":{"id":1,"tags":[1,2]}}`}, 1},
	} {
		table, err := readPages(t, "json", test.options, test.pages...)
		refusal, refused := errors.AsType[*feedmill.Error](err)
		switch {
		case test.rows < 0:
			if !refused || refusal.Type != "records-moved" {
				t.Errorf("%s: %v, %q", test.name, err, table.rows)
			}
		case err != nil || int64(len(table.rows)) != test.rows:
			t.Errorf("%s: %v, %q", test.name, err, table.rows)
		}
	}
	// A file of a feed is like a page of one, but what its path selects is what the
	// standard says.
	for text, want := range map[string]int{`{"message":"slow down","code":9}`: -1, `{}`: 0, list: 2} {
		table, err := Open(t.Context(), "json", strings.NewReader(text), Options{Before: found("$[*]")})
		if (err != nil) != (want < 0) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && len(decodetest.Rows(t, table)) != want {
			t.Errorf("%s: %q", text, decodetest.Rows(t, table))
		}
	}
	table, err := Open(t.Context(), "json", strings.NewReader(`{"eur":1,"usd":2}`), Options{Path: "$[*]"})
	if err != nil || len(decodetest.Rows(t, table)) != 2 {
		t.Error(err)
	}
}
