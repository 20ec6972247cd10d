package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestOriginalRules reads data as the first release did, and as the release after it.
func TestOriginalRules(t *testing.T) {
	for _, test := range []struct{ name, format, text, original, first string }{
		{"a footer as wide as the table", "csv", "a,b\nx,1\n\nSource: x,\n", "a|b x|1 Source: x|", "a|b x|1"},
		{"a footer that is narrower", "csv", "a,b\nx,1\n\nSource: x\n", "a|b x|1", "a|b x|1"},
		{"a footer in quotes", "csv", "a,b\n1,1\n\n\"Source, x\"\n", "a|b 1|1 Source, x|", "a|b 1|1"},
		{"a narrow row", "csv", "a,b\nx,1\nSource: x\n", "a|b x|1 Source: x|", "a|b x|1"},
		{"rows of delimiters", "csv", "a,b\nx,1\n,\n,\n", "a|b x|1 | |", "a|b x|1"},
		{"a header again", "csv", "a,b\nx,1\na,b\ny,2\n", "a|b x|1 a|b y|2", "a|b x|1 y|2"},
		{"names in two rows", "csv", "a,,b,\nn,s,n,s\n1,2,3,4\n", "a||b| n|s|n|s 1|2|3|4", "n|s|n|s 1|2|3|4"},
		{"units", "csv", "a,b\nkg,m\n1,2\n3,4\n", "a|b kg|m 1|2 3|4", "a|b 1|2 3|4"},
		{"a table below another", "csv", "a,b\nx,1\n\np,q,r\n1,2,3\n4,5,6\n", "p|q|r 1|2|3 4|5|6", "a|b|_extra_1 x|1| p|q|r 1|2|3 4|5|6"},
		{"names that are in the column, too", "csv", "x,y\nx,y2\nx3,y\n", "x|y x|y2 x3|y", "| x|y x|y2 x3|y"},
		{"pairs above the table", "csv", "Year:,2024\n\na,b,c\nx,y,1\nz,w,2\n", "a|b|c x|y|1 z|w|2", "a|b|c x|y|1 z|w|2"},
		{"years as names", "csv", "a,2023,2024\nx,1,2\n", "a|2023|2024 x|1|2", "a|2023|2024 x|1|2"},
		{"years as values", "csv", "x,2023,2024\ny,2024,2025\n", "|| x|2023|2024 y|2024|2025", "|| x|2023|2024 y|2024|2025"},
		{"spaces behind delimiters", "csv", "a, b\nx, y\nz, w\n", "a|b x| y z| w", "a|b x|y z|w"},
		{"a name of spaces", "csv", "Title\n\na| |c\n1|2|3\n4|5|6\n", "a||c 1|2|3 4|5|6", "a||c 1|2|3 4|5|6"},
		{"a printed table", "csv", "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n+---+---+\n", "+---+---+ | a | b | +---+---+ | 1 | 2 | +---+---+", "a|b 1|2"},

		{"the longest list", "json", `{"a":[{"i":"a long text that is more than the other list"}],"b":[{"i":1},{"i":2}]}`, "i 1 2", "i a long text that is more than the other list"},
		{"the shallowest list", "json", `{"x":{"a":[{"i":1},{"i":2}]},"b":[{"i":3}]}`, "i 3", "i 1 2"},
		{"an invoice", "json", `{"id":1,"to":"x","sum":5,"lines":[{"n":1},{"n":2}]}`, "n 1 2", `id|to|sum|lines 1|x|5|[{"n":1},{"n":2}]`},
		{"an object of objects", "json", `{"a":{"n":1},"b":{"n":2}}`, "a.n|b.n 1|2", "_key|n a|1 b|2"},
		{"a list of lists", "json", `[["a","b"],[1,2]]`, `value ["a","b"] [1,2]`, "a|b 1|2"},
		{"columns", "json", `{"h":{"a":[1,2],"b":[3,4]}}`, "h.a|h.b [1,2]|[3,4]", "a|b 1|3 2|4"},
	} {
		for rules, want := range map[feedmill.Rules]string{feedmill.RulesOriginal: test.original, feedmill.RulesFirst: test.first} {
			rows, _ := readAll(t, test.format, test.text, Options{Rules: rules})
			if got := strings.Join(rows, " "); got != want {
				t.Errorf("%s, by rules %d, is %q, want %q", test.name, rules, got, want)
			}
		}
	}
}

// TestOriginalRecords holds the records to the list that has columns of the feed: the first
// release did not store where it had found them.
func TestOriginalRecords(t *testing.T) {
	const text = `{"errors":[{"code":1},{"code":2}],"items":[{"id":7,"who":{"name":"Ann"}}]}`
	for fields, want := range map[string]string{"": "code 1 2", "code": "code 1 2", "id": "id|who.name 7|Ann", "who.name": "id|who.name 7|Ann", "other": "code 1 2"} {
		o := Options{Rules: feedmill.RulesOriginal}
		o.Before.Candidates = []feedmill.RecordCandidate{{Fields: []string{fields}}}
		rows, warnings := readAll(t, "json", text, o)
		if got := strings.Join(rows, " "); got != want || strings.Join(warnings, " ") != "other-records" {
			t.Errorf("the records of a feed with the column %q are %q, %q; want %q", fields, got, warnings, want)
		}
	}
}

// TestOriginalPath has a path that leads to a list, which is the record by the original rules.
func TestOriginalPath(t *testing.T) {
	const text = `{"rows":[{"id":1},{"id":2}],"h":{"a":[1,2],"b":[3,4]}}`
	for path, want := range map[string][2]string{"$.rows": {`value [{"id":1},{"id":2}]`, "id 1 2"}, "$.h[*]": {"value [1,2] [3,4]", "a|b 1|3 2|4"}} {
		for i, rules := range []feedmill.Rules{feedmill.RulesOriginal, feedmill.RulesFirst} {
			if rows, _ := readAll(t, "json", text, Options{Rules: rules, Path: path}); strings.Join(rows, " ") != want[i] {
				t.Errorf("%s, by rules %d, is %q, want %q", path, rules, rows, want[i])
			}
		}
	}
}
