package json

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// Every place where records may be is told of, that which was taken first, with what its
// first record has.
func TestCandidates(t *testing.T) {
	for data, want := range map[string]string{
		`[{"a":1,"b":{"c":2}},{"a":3}]`:                                 `[{$[*] 2 [a b]}]`,
		`{"x":[{"a":1}],"deep":{"y":[{"b":1,"c":[1,2]},{"b":2}]}}`:      `[{$.deep.y[*] 2 [b c]} {$.x[*] 1 [a]}]`,
		`{"id":7,"at":"now","by":"me","n":1,"lines":[{"a":1},{"a":2}]}`: `[{$ 1 [id at by n lines]} {$.lines[*] 2 [a]}]`,
		`{"rows":[["a","b"],[1,2],[3,4]]}`:                              `[{$.rows[*] 3 [a b]}]`,
		`{"k1":{"a":1,"b":2},"k2":{"a":3,"b":4}}`:                       `[{$[*] 2 [a b]}]`,
		`{"t":[1,2,3],"v":[4,5,6]}`:                                     `[{$[*] 3 [t v]}]`,
		`{"a":1}`:                                                       `[{$ 1 [a]}]`,
		`{"a":1} {"a":2}`:                                               `[]`,
		`$.x[*] {"x":[{"a":1}],"y":[{"b":1,"c":2},{"b":2}]}`:            `[{$.x[*] 1 [a]} {$.y[*] 2 [b c]}]`,
		`$.y[?@.b==2] {"x":[{"a":1}],"y":[{"b":1,"c":2},{"b":2}]}`:      `[{$.y[?@.b==2] 1 [b]} {$.y[*] 2 [b c]} {$.x[*] 1 [a]}]`,
		`$[*] [{"a":1},{"b":1}]`:                                        `[{$[*] 2 [a]}]`,
	} {
		var options Options
		if strings.HasPrefix(data, "$") {
			options.Path, data, _ = strings.Cut(data, " ")
		}
		table, err := Open(t.Context(), bytes.NewReader([]byte(data)), options)
		if err != nil {
			t.Fatal(err)
		}
		decodetest.Rows(t, table)
		if got := fmt.Sprint(table.Found().Candidates); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}
