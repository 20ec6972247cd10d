package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestBoundsOfRules holds rules just below and just above the numbers in them.
func TestBoundsOfRules(t *testing.T) {
	plain := func(texts ...string) (cells []string) {
		for _, text := range texts {
			cells = append(cells, "plain "+text)
		}
		return cells
	}
	numbers := repeated(20, "plain 7")
	thousands := repeated(minThousands, "plain 5,678")
	for _, test := range []struct {
		name, column string
		cells        []string
		warns        string
	}{
		{"one word twice among numbers", "text", append(plain("tbd", "tbd"), numbers...), "mixed-types 2 alone"},
		{"one word once among numbers", "text", append(plain("tbd"), numbers...), "mixed-types 1"},
		{"two words among numbers", "text", append(plain("tbd", "open"), numbers...), "mixed-types 2"},
		{"telephone numbers", "text", plain("+49301234567", "+49307654321", "+4930111222"), ""},
		{"seven digits with a sign", "text", plain("+1234567", "+7654321"), ""},
		{"seven digits with a sign and a fraction", "text", plain("+1234567.5", "+7654321.5"), "numeric-text 2"},
		{"seven digits with a sign beside a short number", "text", append(repeated(11, "plain +1234567"), "plain 12"), ""},
		{"eight words for powers of ten", "text", plain("1k", "2M", "3B", "4bn", "5mn", "6 Mio", "7 Mrd", "8 Tsd"), "numeric-text 8"},
		{"nine words for powers of ten", "text", plain("1k", "2M", "3B", "4bn", "5mn", "6 Mio", "7 Mrd", "8 Tsd", "9T"), ""},
		{"commas before three digits, beside three digits", "integer", append(plain("123"), thousands...), "assumed-thousands 10"},
		{"commas before three digits, beside four digits", "text", append(plain("1234"), thousands...), "ambiguous-number 10"},
		{"one comma less than it takes", "text", append(plain("123"), thousands[1:]...), "ambiguous-number 9"},
		{"short dates", "date dd/mm/yy", plain("1/2/26", "31/1/26", "2/2/25"), ""},
		{"days of two digits", "date dd.mm.yy", plain("01.02.26", "31.01.26", "02.02.25"), ""},
		{"versions", "text", plain("3.1.10", "3.2.1", "3.11.1"), ""},
		{"times with a point", "timestamp", plain("2026-11-15 9.30", "2026-11-15 10.45"), ""},
		{"the last days of February", "date", plain("2024-02-29", "2025-02-28"), ""},
		{"a day that February does not have", "text", plain("2024-02-29", "2025-02-29"), ""},
		{"years of two digits first", "date yy/mm/dd", plain("99/12/31", "98/01/02", "97/03/04"), ""},
		{"units", "text", plain("1 kg", "2 kg", "3 kg"), "numeric-text 3"},
		{"dashes for zero", "decimal(2,0) €", plain("€ 12", "€ -", "€ 5"), ""},
		{"a dash alone", "integer nullable", plain("12", "-", "5"), "null-tokens 1"},
		{"a currency alone", "text", plain("€ 12", "€", "€ 5"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := modelled(t, []string{"c"}, typedCells(t, test.cells...), Options{Rules: feedmill.RulesCurrent})
			var warns []string
			for _, w := range got.Warnings {
				said := fmt.Sprint(w.Code, " ", w.Count)
				if strings.Contains(w.Detail, "except \"") {
					said += " alone"
				}
				warns = append(warns, said)
			}
			slices.Sort(warns)
			if column, said := strings.TrimPrefix(got.Columns[0], "c "), strings.Join(warns, ", "); column != test.column || said != test.warns {
				t.Errorf("the column is %q with %q, want %q with %q: %s", column, said, test.column, test.warns, got.Rows[:min(3, len(got.Rows))])
			}
		})
	}
}

// TestBlanksAreNullBesideOneToken holds that blanks are null where one text is set to mean null.
func TestBlanksAreNullBesideOneToken(t *testing.T) {
	for nulls, want := range map[string]string{"x": "c integer nullable", "none": "c text"} {
		got := modelled(t, []string{"c"}, typedCells(t, "plain 12", "plain   ", "plain 7"), Options{Rules: feedmill.RulesCurrent, Set: feedmill.ReadingOptions{Nulls: nulls}})
		if got.Columns[0] != want {
			t.Errorf("with nulls=%s the column is %q, want %q: %s", nulls, got.Columns[0], want, got.Rows)
		}
	}
}

// TestWrappedTextsOfTwoCells holds that texts which a spreadsheet wrote as formulas lose their
// wrapping and nothing else.
func TestWrappedTextsOfTwoCells(t *testing.T) {
	got := modelled(t, []string{"c"}, typedCells(t, `plain ="007"`, `plain ="a ""b"""`, `plain =""`), Options{Rules: feedmill.RulesCurrent})
	if got.Columns[0] != "c text" || fmt.Sprintf("%s", got.Rows) != `[["007"] ["a \"b\""] [""]]` {
		t.Errorf("%s: %s", got.Columns, got.Rows)
	}
}

// TestFormatsOfTheSource holds that whole numbers which the source shows as money are decimals, and
// those of another format whole numbers.
func TestFormatsOfTheSource(t *testing.T) {
	for format, want := range map[string]string{"EUR": "decimal(2,0)", "0.00%": "integer", "": "integer"} {
		inference := New(Options{Rules: feedmill.RulesCurrent})
		inference.Block(typedCells(t, "number 12", "number 7"))
		inference.formats = []string{format}
		schema, _ := inference.Decide([]string{"c"}, feedmill.Findings{})
		if c := schema.Columns[0]; typeName(c) != want || c.Format != format {
			t.Errorf("numbers of the format %q are %s with the format %q, want %s", format, typeName(c), c.Format, want)
		}
	}
}

// TestDays compares days with the calendar of the standard library: every fifth, and so every day of the 400
// years after which the calendar repeats.
func TestDays(t *testing.T) {
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; at.Year() < 10_000; at = at.AddDate(0, 0, 5) {
		year, month, day := at.Date()
		if d := (date{year, int(month), day}); !d.real() || d.unix() != at.Unix()/(24*3600) {
			t.Fatalf("%v is day %d, want %d", d, d.unix(), at.Unix()/(24*3600))
		}
	}
	for _, text := range []string{"0001-01-01", "2026/11/18", "9999-12-31", "1900-02-28", "2000-02-29"} {
		want, err := time.Parse(time.DateOnly, strings.ReplaceAll(text, "/", "-"))
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := parseDate([]byte(text), 0, len(text)); !ok || d.unix() != want.Unix()/(24*3600) {
			t.Errorf("%s is read as %v", text, d)
		}
	}
}

// TestLongDecimals holds texts among decimals of 9 to 16 characters to what they are: what only looks like a decimal
// makes the column text.
func TestLongDecimals(t *testing.T) {
	for text, want := range map[string]columnar.Type{
		"7654321.25": columnar.TypeDecimal, "-7654321.25": columnar.TypeDecimal, "1234567890123.25": columnar.TypeDecimal, "12345678901234567.25": columnar.TypeDecimal,
		"1a34567.25": columnar.TypeText, "123456a.25": columnar.TypeText, "1234567.2x": columnar.TypeText, "1234567..5": columnar.TypeText, "01234567.25": columnar.TypeText, "--234567.25": columnar.TypeText,
	} {
		cells := &columnar.Cells{Rows: 3, Columns: 1, Data: []byte("1234567.25 1234567.25 " + text)}
		for _, at := range [][2]int{{0, 10}, {11, 21}, {22, 22 + len(text)}} {
			cells.Cell = append(cells.Cell, columnar.NewCell(columnar.CellPlain, at[0], at[1]))
		}
		inference := New(Options{})
		inference.Block(cells)
		schema, _ := inference.Decide([]string{"a"}, feedmill.Findings{})
		vectors := make([]columnar.Vector, 1)
		if err := schema.Convert(cells, vectors); err != nil || schema.Columns[0].Type != want {
			t.Fatalf("%s makes the column %s, want %s; %v", text, schema.Columns[0].Type, want, err)
		}
		if want != columnar.TypeDecimal || vectors[0].Wide != nil {
			continue
		}
		exact := strings.Replace(text, ".", "", 1)
		if got := fmt.Sprint(vectors[0].Ints[2]); got != exact {
			t.Errorf("%s became %s hundredths", text, got)
		}
	}
}
