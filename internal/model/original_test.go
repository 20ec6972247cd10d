package model

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestOriginalRules gives columns the types that the first release gave them, and those
// that the release after it did.
func TestOriginalRules(t *testing.T) {
	for _, c := range []struct{ text, original, first string }{ // of the first column
		{"a\n1\nNA\n", "text", "integer null-tokens"},
		{"a\n2026-01-01\n0000-00-00\n", "text", "date null-tokens"},
		{"a\n31/12/45\n", "text ambiguous-date", "date dd/mm/yy"},
		{"a\n03.04.2026\n", "text ambiguous-date", "date dd.mm.yyyy"},
		{"a,b\n01/02/2026,31/12/2026\n", "text ambiguous-date", "date dd/mm/yyyy assumed-date-order"},
		{"a,b\n1.234,\"1,5\"\n", "decimal(4,3)", "integer assumed-locale"},
		{"a\n3 Jan 2026\n", "text", "date dd mmm yyyy"},
		{"a\n2026-1-5\n", "text", "date"},
		{"a\n3.11.10\n", "text ambiguous-date", "text"},
		{"a\n$ -\n", "text", "decimal(1,0) $"},
		{"a\n5-\n", "text", "integer"},
		{"a\nCHF5.00\n", "text", "decimal(3,2) CHF"},
		{"a\n5.00 kr\n", "text", "decimal(3,2) kr"},
		{"a\n$5.00\n", "decimal(3,2) $", "decimal(3,2) $"},
		{"a\n12%\n", "decimal(2,0) percent", "decimal(2,0) percent"},
		{"a\n5%\n", "decimal(1,0) percent", "decimal(1,0) percent"},
		{"a\n\"=\"\"01\"\"\"\n", "text", "text unwrapped-text"},
		{"a\n١٢٣\n", "text", "integer"},
		{"a\n1\n2\n3\nx\n", "text", "text mixed-types"},
	} {
		for rules, want := range map[feedmill.Rules]string{feedmill.RulesOriginal: c.original, feedmill.RulesFirst: c.first} {
			names, cells := tableCells(t, c.text)
			inference := New(Options{Rules: rules})
			inference.Block(cells)
			schema, warnings := inference.Decide(names, feedmill.Findings{Delimiter: feedmill.Found(";", true)})
			got := strings.TrimSpace(typeName(schema.Columns[0]) + " " + schema.Columns[0].Format)
			for _, w := range warnings {
				if w.Column == schema.Columns[0].Name {
					got += " " + w.Code
				}
			}
			if got != want {
				t.Errorf("%q, by rules %d, is %q, want %q", c.text, rules, got, want)
			}
		}
	}
}
