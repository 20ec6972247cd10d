package feed

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
)

// TestAssumedThousands has numbers whose commas prove nothing.
func TestAssumedThousands(t *testing.T) {
	column := func(delimiter string, values ...string) string {
		text := "k" + delimiter + "n\n"
		for _, value := range values {
			text += "x" + delimiter + `"` + value + `"` + "\n"
		}
		return text
	}
	ten := strings.Split(strings.Repeat("1,234 ", 9)+"12,345", " ")
	const thousands = "assumed-thousands n"
	for _, test := range []struct {
		name, data, options string
		kind, warning, last string // of the column, and its last value
	}{
		{"between commas", column(",", "1,234", "999"), "", "integer", thousands, "999"},
		{"between tabs", column("\t", "1,234", "999"), "", "text", "ambiguous-number n", "999"},
		{"ten between tabs", column("\t", ten...), "", "integer", thousands, "12345"},
		{"nine between tabs", column("\t", ten[1:]...), "", "text", "ambiguous-number n", "12,345"},
		{"ten between semicolons", column(";", ten...), "", "text", "ambiguous-number n", "12,345"},
		{"dollars between tabs", column("\t", "$1,234", "$5"), "", "decimal($)", thousands, "5"},
		{"pounds between tabs", column("\t", "£1,234", "£5"), "", "decimal(£)", thousands, "5"},
		{"euros between tabs", column("\t", "€1,234", "€5"), "", "text", "ambiguous-number n", "€5"},
		{"beside four digits", column(",", "1,234", "1234"), "", "text", "ambiguous-number n", "1234"},
		{"points", column(";", "1.234", "2.345"), "", "text", "ambiguous-number n", "2.345"},
		{"points and commas", column(",", "1,234", "2.345"), "", "text", "ambiguous-number n", "2.345"},
		{"proven by the column", column(",", "1,234", "1,234,567"), "", "integer", "", "1234567"},
		{"proven by a fraction", column(",", "1,234", "1.5"), "", "decimal", "", "1.5"},
		{"the opposite, by the column", column(",", "1,234", "1,5"), "", "decimal", "", "1.500"},
		{"proven by another column", "m,n\n\"1,5\",\"1,234\"\n\"2,25\",\"2,345\"\n", "", "decimal", "assumed-locale n", "2.345"},
		{"set", column(",", "1,234", "2,345"), ",", "decimal", "", "2.345"},
	} {
		c := officeCase{format: "csv", data: test.data, rules: feedmill.RulesCurrent}
		c.options.Decimal = test.options
		columns, rows, warnings, err := c.read(t)
		if err != nil {
			t.Fatal(err)
		}
		kind := columns[1]
		_, last, _ := strings.Cut(rows[len(rows)-1], " | ")
		if got := fmt.Sprint(kind, " ", last, " ", strings.Join(warnings, ",")); got != fmt.Sprint("n:"+test.kind, " ", test.last, " ", test.warning) {
			t.Errorf("%s is %q, want n:%s %s %s", test.name, got, test.kind, test.last, test.warning)
		}
		c.rules = feedmill.RulesFirst
		if _, _, warnings, err = c.read(t); err != nil || strings.Contains(strings.Join(warnings, ","), thousands) {
			t.Errorf("%s by version 1 of the rules: %q, %v", test.name, warnings, err)
		}
	}
}

// TestLocaleChanged has data after commas were assumed to separate thousands.
func TestLocaleChanged(t *testing.T) {
	read := func(data string, before feedmill.Findings, decimal string) (*inferred, error) {
		t.Helper()
		r := feedmill.Reading{Format: "csv", Rules: feedmill.RulesCurrent, Before: before, ReadingOptions: feedmill.ReadingOptions{Decimal: decimal}}
		table, err := decode.Open(t.Context(), "csv", strings.NewReader(data), decode.Options{Rules: r.Rules, Before: before, ReadingOptions: r.ReadingOptions, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		found, err := inferTable(t.Context(), table, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { found.Close() })
		return found, found.schema.CheckLocale()
	}
	first, err := read("k,n,m\nx,\"1,234\",7\n", feedmill.Findings{}, "")
	if before := first.schema.Found; err != nil || len(before.Thousands) != 1 || before.Thousands[0] != "n" {
		t.Fatalf("%v %+v", err, before.Thousands)
	}
	before := first.schema.Found
	// Data without commas does not forget it, and data that proves it ends the assumption.
	for data, want := range map[string]int{"k\tn\nx\t5\n": 1, "k\tn\nx\t1,234\n": 1, "k,n\nx,\"1,234,567\"\n": 0, "k,n\nx,1.5\n": 0} {
		next, err := read(data, before, "")
		if err != nil || len(next.schema.Found.Thousands) != want || next.schema.Columns[1].Type == "text" {
			t.Errorf("%q: %v, %+v, %s", data, err, next.schema.Found.Thousands, next.schema.Columns[1].Type)
		}
	}
	for _, data := range []string{"k;n\nx;1,5\n", "k;n;m\nx;1,234;1,5\n"} {
		_, err := read(data, before, "")
		if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Type != "locale-changed" || !strings.Contains(refusal.Detail, `"n"`) {
			t.Errorf("%q: %v", data, err)
		}
		if _, err := read(data, before, ","); err != nil {
			t.Errorf("%q with a comma that was set: %v", data, err)
		}
	}
	if _, err := read("k;m\nx;1,5\n", before, ""); err != nil {
		t.Errorf("another column: %v", err)
	}
}
