package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

func TestCheckReading(t *testing.T) {
	fine := []feedmill.ReadingOptions{
		{},
		{Delimiter: ";", Quote: "none", Encoding: "Latin1", Header: "none", Nulls: "-,x", Decimal: ",", Dates: "dmy", Timezone: "Europe/Paris"},
		{Delimiter: "tab", Quote: "'", Header: "12"},
		{Delimiter: " "},
		{Delimiter: "\t"},
	}
	for _, o := range fine {
		if faults := CheckReading(o); len(faults) > 0 {
			t.Errorf("%+v: %v", o, faults)
		}
	}
	wrong := feedmill.ReadingOptions{
		Delimiter: "ab", Quote: "qq", Encoding: "klingon", Header: "0", Decimal: ";", Dates: "ydm", Timezone: "Mars/Olympus",
	}
	var names []string
	for _, f := range CheckReading(wrong) {
		names = append(names, f.Parameter)
	}
	if want := []string{"delimiter", "quote", "encoding", "header", "decimal", "dates", "timezone"}; !slices.Equal(names, want) {
		t.Errorf("faults are about %v, want %v", names, want)
	}
}

// TestSetReading overrules what would be found.
func TestSetReading(t *testing.T) {
	for _, test := range []struct {
		name, data, names, rows string
		options                 feedmill.ReadingOptions
	}{
		{"delimiter", "a;b,c\n1;2,3\n", "a;b|c", "1;2|3", feedmill.ReadingOptions{Delimiter: ","}},
		{"tab", "a b\tc\n1 2\t3\n", "a b|c", "1 2|3", feedmill.ReadingOptions{Delimiter: "tab"}},
		{"quote", "a,b\n'x,y',\"z\"\n", "a|b", "x,y|\"z\"", feedmill.ReadingOptions{Quote: "'"}},
		{"no quote", "a,b\n\"x,y\"\n", "a|b", "\"x|y\"", feedmill.ReadingOptions{Quote: "none"}},
		{"encoding", "a,b\n1,\xdf\n", "a|b", "1|ί", feedmill.ReadingOptions{Encoding: "windows-1253"}},
		{"header", "x,y\nz,w\na,b\n1,2\n", "a|b", "1|2", feedmill.ReadingOptions{Header: "3"}},
		{"no header", "a,b\n1,2\n", "|", "a|b\n1|2", feedmill.ReadingOptions{Header: "none"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Open(t.Context(), "csv", strings.NewReader(test.data), Options{ReadingOptions: test.options})
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, row := range decodetest.Rows(t, table) {
				rows = append(rows, strings.Join(row, "|"))
			}
			if got := strings.Join(table.Names(), "|"); got != test.names || strings.Join(rows, "\n") != test.rows {
				t.Errorf("names %q, rows %q", got, rows)
			}
			if set := table.Found().Set(); set != test.options {
				t.Errorf("found %+v, set %+v", set, test.options)
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
