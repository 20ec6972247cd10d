package decode

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// readAll reads a table as a line of texts for each row, and its warnings as codes with the
// lines of their examples.
func readAll(t *testing.T, format, text string, o Options) (rows, warnings []string) {
	t.Helper()
	o.Temp = t.TempDir()
	table, err := Open(t.Context(), format, bytes.NewReader([]byte(text)), o)
	if err != nil {
		return []string{err.Error()}, nil
	}
	defer table.Close()
	err = table.Each(t.Context(), 1, func(c *columnar.Cells) error {
		for row := range c.Rows {
			var cells []string
			for column := range c.Columns {
				cells = append(cells, string(c.Text(c.At(row, column))))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows = append([]string{strings.Join(table.Names(), "|")}, rows...)
	found, err := table.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range found {
		text := w.Code
		for _, e := range w.Examples {
			text += fmt.Sprintf(" %d", e.Line)
		}
		warnings = append(warnings, text)
	}
	return rows, warnings
}

// TestFooters has rows below tables, and what becomes of them by the rules of both versions and
// by the option.
func TestFooters(t *testing.T) {
	twenty := strings.Repeat("* note\n", 20)
	for _, test := range []struct {
		name, text       string
		first, now, keep int // how many rows stay by version 1, by version 2 and with footer=keep
	}{
		{"a source below numbers", "id,v\n1,2\n2,3\n\nSource: x\n", 2, 2, 3},
		{"a source right below numbers", "id,v\n1,2\n2,3\nSource: x\n", 2, 2, 3},
		{"words right below numbers", "id,v\n1,2\n2,3\nwithout a mark\n", 2, 3, 3},
		{"words apart, in two lines", "id,v\n1,2\n2,3\n\nwithout a mark\nat all\n", 2, 2, 4},
		{"a number apart", "id,v\n1,2\n2,3\n\n7\n", 2, 3, 3},
		{"a number right below", "id,v\n1,2\n2,3\n7\n", 3, 3, 3},
		{"words apart, below text", "id,v\na,2\nb,3\n\nwithout a mark\n", 2, 3, 3},
		{"a sentence below text", "id,v\na,2\nb,3\nthis is all that we have\n", 2, 3, 3},
		{"a mark right below text", "id,v\na,2\nb,3\nNote: x\n", 2, 3, 3},
		{"a mark apart, below text", "id,v\na,2\nb,3\n\nNote: x\n", 2, 2, 3},
		{"a totals row", "id,v\n1,2\n2,3\n\nTotal,5\n", 3, 3, 3},
		{"twenty notes", "id,v\n1,2\n2,3\n\n" + twenty, 2, 2, 22},
		{"more than twenty notes", "id,v\n1,2\n2,3\n\n" + twenty + "* note\n", 3, 23, 23},
		{"one column, where an empty line is a row", "v\n1\n2\n\nSource: x\n", 4, 4, 4},
	} {
		for _, of := range []struct {
			name    string
			options Options
			want    int
		}{
			{"version 1", Options{Rules: 1}, test.first},
			{"version 2", Options{Rules: 2}, test.now},
			{"footer=drop", Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Footer: "drop"}}, test.first},
			{"footer=keep", Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Footer: "keep"}}, test.keep},
			{"version 1, footer=keep", Options{Rules: 1, ReadingOptions: feedmill.ReadingOptions{Footer: "keep"}}, test.keep},
		} {
			rows, warnings := readAll(t, "csv", test.text, of.options)
			if len(rows)-1 != of.want {
				t.Errorf("%s, %s: %d rows, want %d: %q %q", test.name, of.name, len(rows)-1, of.want, rows, warnings)
			}
			dropped := strings.Count(strings.TrimRight(test.text, "\n"), "\n") - strings.Count(test.text, "\n\n") - (len(rows) - 1)
			if footer := strings.Join(warnings, ","); dropped > 0 != strings.Contains(footer, "skipped-footer") {
				t.Errorf("%s, %s: %d lines were dropped: %q", test.name, of.name, dropped, warnings)
			}
		}
	}
	// Every dropped line is an example.
	for text, want := range map[string]string{
		"id,v\n1,2\n2,3\n\nSource: x\nmore\n\nstill more\neven more\n": "skipped-footer 5 6 8 9,blank-lines 4",
		"id,v\n1,2\n2,3\n-----\n,\n-----\n":                            "skipped-footer 4 5 6",
		"id\tv\n1\t2\n2\t3\n-----\n\t\n-----\n":                        "skipped-footer 4 5 6",
	} {
		if _, warnings := readAll(t, "csv", text, Options{Rules: 2}); strings.Join(warnings, ",") != want {
			t.Errorf("%q has the warnings %q, want %s", text, warnings, want)
		}
	}
}

// TestSecondTables has files of several tables.
func TestSecondTables(t *testing.T) {
	const three = "a,b\n1,2\n2,3\nSource: z\n\nname,qty,price\nx,1,2\ny,2,3\n\n\nk,l\n5,6\n\n* end\n"
	for _, test := range []struct {
		name, text, table string
		rules             feedmill.Rules
		want, warnings    string
	}{
		{"the first", three, "", 2, "a|b 1|2 2|3", "second-table 6,skipped-footer 4,blank-lines 5"},
		{"the second", three, "2", 2, "name|qty|price x|1|2 y|2|3", "second-table 11,blank-lines 9 10"},
		{"the third", three, "3", 2, "k|l 5|6", "skipped-footer 14,blank-lines 13"},
		{"one too many", three, "4", 2, "The file does not have this table.", ""},
		{"none but one", "a,b\n1,2\n", "2", 2, "The file does not have this table.", ""},
		{"all", three, "all", 2, "a|b|_extra_1 1|2| 2|3| Source: z|| name|qty|price x|1|2 y|2|3 k|l| 5|6|", "skipped-footer 14,short-rows,long-rows,blank-lines 5 9 10 13"},
		{"of version 1", three, "", 1, "a|b|_extra_1 1|2| 2|3| Source: z|| name|qty|price x|1|2 y|2|3 k|l| 5|6|", "skipped-footer 14,short-rows,long-rows,blank-lines 5 9 10"},
		{"the second, of version 1", three, "2", 1, "name|qty|price x|1|2 y|2|3", "second-table 11"},
		{"as wide, with values", "a,b\n1,2\n\nname,qty\nx,7\n", "", 2, "a|b 1|2", "second-table 4,blank-lines 3"},
		{"as wide, with text alone", "a,b\nx,y\n\nname,city\nz,w\n", "", 2, "a|b x|y name|city z|w", "blank-lines 3"},
		{"the names again", "a,b\n1,2\n\na,b\n3,4\n", "", 2, "a|b 1|2 3|4", "blank-lines 3,repeated-header 4"},
		{"rows that go on", "a,b\nx,2\n\ny,3\nz,4\n", "", 2, "a|b x|2 y|3 z|4", "blank-lines 3"},
		{"a value that is missing", "a,b\nx,2\n\ny,n/a\nz,4\n", "", 2, "a|b x|2 y|n/a z|4", "blank-lines 3"},
		{"names without rows", "a,b\n1,2\n\nname,qty,price\n", "", 2, "a|b|_extra_1 1|2| name|qty|price", "long-rows,blank-lines 3"},
		{"in quotes", "a,b\n1,\"x\n\nname,qty,price\n1,2,3\n\"\n", "", 2, "a|b 1|x\n\nname,qty,price\n1,2,3\n", ""},
		{"behind quotes", "a,b\n1,\"x\n\ny\"\n\nname,qty,price\nz,2,3\n", "", 2, "a|b 1|x\n\ny", "second-table 6,blank-lines 5"},
		{"below a title and a blank line, above a wider one", "Report\n\na,b\n1,2\n2,3\n\nname,qty,price\nx,1,2\ny,2,3\nz,3,4\n", "", 2, "a|b 1|2 2|3", "skipped-preamble 1,second-table 7,blank-lines 6"},
		{"a title above the second", "a,b\n1,2\n\nReturns\nname,qty,price\nx,1,2\n", "", 2, "a|b 1|2", "second-table 5,blank-lines 3"},
		{"a title above the second, alone", "a,b\nz,2\n\nReturns\n\nname,qty,price\nx,1,2\n", "", 2, "a|b z|2", "second-table 6,blank-lines 3"},
		{"a note above the second", "a,b\n1,2\n\nas of May\n\nname,qty,price\nx,1,2\n", "", 2, "a|b 1|2", "second-table 6,skipped-footer 4,blank-lines 3 5"},
		{"below its title", "a,b\n1,2\n\nReturns\nname,qty,price\nx,1,2\n", "2", 2, "name|qty|price x|1|2", "skipped-preamble 4"},
		{"a name above rows that go on", "a,b\nx,2\n\nNorth\ny,3\nz,4\n", "", 2, "a|b x|2 North| y|3 z|4", "short-rows,blank-lines 3"},
		{"a row of delimiters between", "a,b,c\n1,2,3\n,,\nname,qty,price\nx,1,2\n", "", 2, "a|b|c 1|2|3", "second-table 4,skipped-padding 3"},
		{"behind a row of delimiters", "a,b,c\r\n1,2,3\r\n,,\r\nname,qty,price\r\nx,1,2\r\n", "2", 2, "name|qty|price x|1|2", ""},
		{"a row of nulls", "a,b,c\n1,2,3\n,,\n4,5,6\n", "", 2, "a|b|c 1|2|3 || 4|5|6", ""},
		{"line ends of Windows", "a,b\r\n1,2\r\n\r\nname,qty,price\r\nx,1,2\r\n", "", 2, "a|b 1|2", "second-table 4,blank-lines 3"},
	} {
		options := Options{Rules: test.rules, ReadingOptions: feedmill.ReadingOptions{Table: test.table}}
		rows, warnings := readAll(t, "csv", test.text, options)
		if got := strings.Join(rows, " "); got != test.want || strings.Join(warnings, ",") != test.warnings {
			t.Errorf("%s is %q %q, want %q %q", test.name, got, warnings, test.want, test.warnings)
		}
	}
	// Of the blank lines outside of quotes 100 are checked.
	const second = "\nname,qty,price\nx,1,2\n"
	for text, found := range map[string]bool{
		"a,b\n1,2\n" + strings.Repeat("\n3,4\n", 99) + second:         true,
		"a,b\n1,2\n" + strings.Repeat("\n3,4\n", 100) + second:        false,
		"a,b\n1,2\n" + strings.Repeat("3,\"x\n\ny\"\n", 150) + second: true,
	} {
		if _, warnings := readAll(t, "csv", text, Options{Rules: 2}); strings.Contains(strings.Join(warnings, ","), "second-table") != found {
			t.Errorf("%d bytes have the warnings %q; a second table is to be found: %v", len(text), warnings, found)
		}
	}
}

// TestAssumedHeaders has headers that the data proves, and others.
func TestAssumedHeaders(t *testing.T) {
	for _, test := range []struct {
		text  string
		rules feedmill.Rules
		want  string
	}{
		{"name,city\nAnn,Rome\nBob,Oslo\n", 2, "{1 assumed}"},
		{"name,city\nAnn,Rome\nBob,Oslo\n", 1, "{1 found}"},
		{"name,age\nAnn,5\nBob,6\n", 2, "{1 found}"},
		{"Report\n\nname,age\nAnn,5\nBob,6\n\nnotes\nand more\nof them\nhere\n", 2, "{3 found}"},
		{"name\nAnn\nBob\n", 2, "{1 assumed}"},
		{"1,2\n3,4\n", 2, "{none found}"},
		{"id,name\n1,Ann\n\"id\",\"name\"\n3,Cid\nid,name\n", 2, "{1 found}"},
	} {
		table, err := Open(t.Context(), "csv", bytes.NewReader([]byte(test.text)), Options{Rules: test.rules})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(table.Found().Header.Finding); got != test.want {
			t.Errorf("%q has the header %s, want %s", test.text, got, test.want)
		}
		table.Close()
	}
}
