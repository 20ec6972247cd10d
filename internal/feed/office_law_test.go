package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
)

// lawTable is a table of texts, as somebody means it.
type lawTable struct {
	names []string
	rows  [][]string
}

// lawKinds are columns of values, each with a name for it.
var lawKinds = map[string]*rapid.Generator[string]{
	"count": rapid.Map(rapid.IntRange(0, 99_999), func(n int) string { return fmt.Sprint(n) }),
	"price": rapid.Map(rapid.IntRange(0, 99_999), func(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }),
	"day": rapid.Map(rapid.IntRange(0, 364), func(n int) string {
		return fmt.Sprintf("2026-%02d-%02d", 1+n%12, 1+n%28)
	}),
	"city": rapid.SampledFrom([]string{"Bern", "Paris", "Oslo", "Rome", "New York", "Wien", "x"}),
	"memo": rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8}){0,2}`),
}

func drawTable(t *rapid.T) (table lawTable) {
	kinds := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"count", "price", "day", "city", "memo"}), 2, 5, rapid.ID[string]).Draw(t, "columns")
	if !slices.Contains(kinds, "count") && !slices.Contains(kinds, "price") && !slices.Contains(kinds, "day") {
		kinds = append(kinds, "count") // so that the names are no values
	}
	table.names = kinds
	for range rapid.IntRange(3, 12).Draw(t, "rows") {
		var row []string
		for _, kind := range kinds {
			row = append(row, lawKinds[kind].Draw(t, kind))
		}
		table.rows = append(table.rows, row)
	}
	return table
}

// lawDialect is how a table is written.
type lawDialect struct {
	delimiter, newline, encoding string
	quoteAll                     bool
}

var plainDialect = lawDialect{delimiter: ",", newline: "\n"}

func drawDialect(t *rapid.T) lawDialect {
	return lawDialect{
		delimiter: rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(t, "delimiter"),
		newline:   rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "newline"),
		quoteAll:  rapid.Bool().Draw(t, "quoteAll"),
	}
}

func (d lawDialect) line(cells []string) string {
	out := slices.Clone(cells)
	for i, cell := range out {
		if d.quoteAll || strings.ContainsAny(cell, d.delimiter+"\"\r\n") {
			out[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
	}
	return strings.Join(out, d.delimiter)
}

func (d lawDialect) lines(table lawTable) []string {
	lines := []string{d.line(table.names)}
	for _, row := range table.rows {
		lines = append(lines, d.line(row))
	}
	return lines
}

func (d lawDialect) text(lines []string) string { return strings.Join(lines, d.newline) + d.newline }

// reading is what comes of a text.
type reading struct {
	columns, rows, warnings []string
}

func (r reading) table() string {
	return strings.Join(r.columns, " | ") + "\n" + strings.Join(r.rows, "\n")
}

func readLaw(t *testing.T, rt *rapid.T, data string, options feedmill.ReadingOptions) reading {
	c := officeCase{format: "csv", data: data, options: options}
	columns, rows, warnings, err := c.read(t)
	if err != nil {
		rt.Fatalf("%q: %v", data, err)
	}
	return reading{columns, rows, warnings}
}

// The same table reads the same, however it is written.
func TestLawOfWriting(t *testing.T) {
	letters := map[string]string{
		"utf-8": "Zoë", "utf-16le": "Łódź", "utf-16be": "東京", "windows-1252": "Zoë", "windows-1250": "Łódź", "windows-1251": "Москва",
		"shift_jis": "東京", "gb18030": "北京", "big5": "台北", "euc-kr": "서울", "iso-8859-15": "Zoë",
	}
	names := []string{}
	for name := range letters {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		table, d := drawTable(rt), drawDialect(rt)
		d.encoding = rapid.SampledFrom(names).Draw(rt, "encoding")
		table.rows = append(table.rows, slices.Clone(table.rows[0]))
		table.names = append(table.names, "name")
		for i := range table.rows {
			table.rows[i] = append(table.rows[i], letters[d.encoding]+" "+string(rune('a'+i)))
		}
		want := readLaw(t, rt, plainDialect.text(plainDialect.lines(table)), feedmill.ReadingOptions{})
		known, err := htmlindex.Get(d.encoding)
		if err != nil {
			rt.Fatal(err)
		}
		text, err := known.NewEncoder().String(d.text(d.lines(table)))
		if err != nil {
			rt.Fatal(err)
		}
		options := feedmill.ReadingOptions{}
		if !strings.HasPrefix(d.encoding, "utf-") {
			options.Encoding = d.encoding
		}
		if got := readLaw(t, rt, text, options); got.table() != want.table() || len(got.warnings) != len(want.warnings) {
			rt.Fatalf("%+v: %q\nis read as\n%s\n%v\nwant\n%s\n%v", d, text, got.table(), got.warnings, want.table(), want.warnings)
		}
	})
}

// Every character of every cell comes back where types=text is asked for.
func TestLawOfText(t *testing.T) {
	cells := rapid.OneOf(
		rapid.SampledFrom([]string{"x", "007", "1.50", "1,234", "31.01.2026", "NULL", "true", "$ 5", " padded ", "it's", "a\nb", `say "hi"`, "ü€😀", "0x1F", "-", "12 %", "(5)", `="01"`}),
		rapid.StringOfN(rapid.SampledFrom([]rune(`ab1 "',;|.-`+"\nü")), 1, 8, -1),
	)
	rapid.Check(t, func(rt *rapid.T) {
		table, d := drawTable(rt), drawDialect(rt)
		d.newline = "\n"
		table.names = append(table.names, "any")
		for i := range table.rows {
			cell := cells.Draw(rt, "any")
			if !d.quoteAll {
				cell = strings.TrimLeft(cell, " '") + "." // a space or an apostrophe may belong to the dialect
			}
			table.rows[i] = append(table.rows[i], cell)
		}
		text := d.text(d.lines(table))
		found, err := (&officeCase{format: "csv", data: text}).texts(t)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.EqualFunc(found, table.rows, slices.Equal) {
			rt.Fatalf("%q\nis read as %q\nwant %q", text, found, table.rows)
		}
	})
}

// A blank line, a title or padding changes nothing but the warnings, and there is one.
func TestLawOfSurroundings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table, d := drawTable(rt), drawDialect(rt)
		lines := d.lines(table)
		want := readLaw(t, rt, d.text(lines), feedmill.ReadingOptions{})
		change := rapid.SampledFrom([]string{"title", "title and blank", "blank line inside", "padding", "blank end", "header again", "note"}).Draw(rt, "change")
		warned := true
		switch change {
		case "title":
			lines = slices.Insert(lines, 0, "Sales report")
		case "title and blank":
			lines = slices.Insert(lines, 0, "Sales report", "")
		case "blank line inside":
			lines = slices.Insert(lines, rapid.IntRange(2, len(lines)-1).Draw(rt, "at"), "")
		case "padding":
			for range rapid.IntRange(1, 40).Draw(rt, "lines") {
				lines = append(lines, strings.Repeat(d.delimiter, len(table.names)-1))
			}
		case "blank end":
			lines, warned = append(lines, "", ""), false
		case "header again":
			lines = slices.Insert(lines, rapid.IntRange(2, len(lines)-1).Draw(rt, "at"), lines[0])
		case "note":
			lines = append(lines, "", "Source: ERP")
		}
		got := readLaw(t, rt, d.text(lines), feedmill.ReadingOptions{})
		if got.table() != want.table() || warned && len(got.warnings) <= len(want.warnings) {
			rt.Fatalf("%s: %q\nis read as\n%s\n%v\nwant\n%s\n%v", change, d.text(lines), got.table(), got.warnings, want.table(), want.warnings)
		}
	})
}

// Rows that are not laid out like the others are rows, or there is a warning that says
// how many are none.
func TestLawOfRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table, d := drawTable(rt), drawDialect(rt)
		d.newline = "\n"
		lines := d.lines(table)
		odd := rapid.SliceOfN(rapid.SampledFrom([]string{"short", "long", "delimiters", "blank", "names", "words", "rule"}), 1, 4).Draw(rt, "odd")
		for _, kind := range odd {
			at := rapid.IntRange(1, len(lines)).Draw(rt, "at")
			line := map[string]string{
				"short": d.line(table.rows[0][:1]), "long": d.line(append(slices.Clone(table.rows[0]), "more", "yet more")),
				"delimiters": strings.Repeat(d.delimiter, len(table.names)-1), "blank": "", "names": lines[0], "words": "Total of all", "rule": "-----",
			}[kind]
			lines = slices.Insert(lines, at, line)
		}
		c := officeCase{format: "csv", data: d.text(lines)}
		_, rows, warnings, err := c.counted(t)
		if err != nil {
			rt.Fatal(err)
		}
		layout := int64(0)
		for _, w := range warnings {
			switch w.Code {
			case feedmill.WarnPreamble, feedmill.WarnFooter, feedmill.WarnBlankLines, feedmill.WarnPadding, feedmill.WarnRepeatedHeader, feedmill.WarnRule, feedmill.WarnUnits:
				layout += w.Count
			case feedmill.WarnJoinedHeader:
				layout += w.Count - 1
			case feedmill.WarnNoHeader:
				layout-- // the header is a row
			}
		}
		blank := int64(0) // empty lines hold no row, whether or not they are told of
		for _, line := range lines {
			if line == "" {
				blank++
			}
		}
		if all := int64(len(lines)) - 1; rows+layout > all || rows+layout+blank < all {
			rt.Fatalf("%v: %q\n%d rows of %d, and the warnings tell of %d: %+v", odd, c.data, rows, all, layout, warnings)
		}
	})
}
