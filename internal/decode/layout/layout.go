// Package layout finds the table in rows of cells, as people and programs lay
// them out on a sheet or in a file of separated fields: below titles and remarks, under
// names that may take several rows, with units or rules below the names, and
// with notes after the last row. It knows nothing of the text that the rows were
// written in.
//
// [Find] works on the first rows and finds the names and the first row of data,
// [Footer] on the last.
package layout

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
)

// Row is a row of cells.
type Row struct {
	// Line is the line or the row of a sheet at which it begins, from 1.
	Line int64
	// Cells are its texts, without spaces around them.
	Cells []string
	// Blank says that it is an empty line and has no cells at all.
	Blank bool
}

// filled counts the cells that are not empty.
func (r *Row) filled() (n int) {
	for _, cell := range r.Cells {
		if cell != "" {
			n++
		}
	}
	return n
}

func (r *Row) cell(column int) string {
	if column >= len(r.Cells) {
		return ""
	}
	return r.Cells[column]
}

// NoHeader is the line of a header that is not there.
const NoHeader = -1

// Table is where the table is in the first rows.
type Table struct {
	// Width is how many cells most rows of the table have.
	Width int
	// Header are the rows that name the columns, and Names what they call them.
	// Both are empty where there is no header.
	Header []int
	Names  []string
	// Units are those of the columns, where a row below the header gives them.
	Units []string
	// Proven says that a column below the header has values that its name is not like, and
	// TextFirst that the first column has text among the rows below.
	Proven, TextFirst bool
	// First is the first row of data.
	First    int
	Warnings []feedmill.Warning
}

// maxPreamble is how many rows can stand before the header.
const maxPreamble = 200

// Find finds the table in the first rows of data, by a version of the rules. A header is a
// line that the user has set, NoHeader, or 0 where it is to be found. At least one row is not
// blank.
func Find(rows []Row, header int64, rules feedmill.Rules) (t Table, err error) {
	f := finder{rows: rows, rules: rules}
	f.measure()
	t.Width = f.width
	begin := f.next(0)
	switch {
	case header == NoHeader:
		t.First = begin
		return t, nil
	case header > 0:
		at, err := f.at(header)
		if err != nil {
			return t, err
		}
		t.Header, t.First = []int{at}, at+1
	default:
		if rules == feedmill.RulesOriginal {
			f.original(begin, &t)
		} else {
			f.find(begin, &t)
		}
		if len(t.Header) == 0 {
			t.Warnings = append(t.Warnings, feedmill.Warning{
				Code: feedmill.WarnNoHeader, Count: 1, Examples: f.examples(t.First, t.First),
				Detail: fmt.Sprintf("Line %d contains values, not names, so the columns are numbered. Set header=%d to use it as the header.", rows[t.First].Line, rows[t.First].Line),
			})
		}
	}
	f.prove(&t)
	if len(t.Header) > 0 {
		t.Names = f.join(t.Header)
		if above := f.skipped(begin, t.Header[0]); above > 0 {
			t.warn(feedmill.WarnPreamble, above, f.examples(begin, t.Header[0]-1), "%s left out because the column names are in line %d. Set header=… to choose another line.",
				f.lines(begin, t.Header[0]-1, "was", "were"), rows[t.Header[0]].Line)
		}
	}
	if len(t.Header) > 1 {
		last := t.Header[len(t.Header)-1]
		t.warn(feedmill.WarnJoinedHeader, int64(len(t.Header)), f.examples(t.Header[0], last), "%s combined into the column names. Set header=%d to use only the last line.",
			f.lines(t.Header[0], last, "was", "were"), rows[last].Line)
	}
	return t, nil
}

// prove finds out what the first rows of data, up to a blank one, tell of the table: whether
// a column has values that its name is not like, and whether the first column has text.
func (f *finder) prove(t *Table) {
	t.Proven = f.hasTyped()
	end := t.First
	for end < len(f.rows) && !f.rows[end].Blank {
		if cell := f.rows[end].cell(0); f.rows[end].filled() > 1 && cell != "" && !isToken(cell) && !LooksTyped(cell) {
			t.TextFirst = true
		}
		end++
	}
	for j := 0; j < f.width && !t.Proven; j++ {
		values, all := 0, 0
		for i := t.First; i < end; i++ {
			if f.rules > feedmill.RulesFirst && len(t.Header) > 0 && sameCells(&f.rows[i], &f.rows[t.Header[len(t.Header)-1]]) {
				continue // the header again
			}
			if cell := f.rows[i].cell(j); cell != "" && !isToken(cell) {
				all++
				if LooksTyped(cell) {
					values++
				}
			}
		}
		t.Proven = all > 0 && values == all
	}
}

func (t *Table) warn(code string, count int64, examples []feedmill.Example, format string, args ...any) {
	t.Warnings = append(t.Warnings, feedmill.Warning{Code: code, Count: count, Examples: examples, Detail: fmt.Sprintf(format, args...)})
}

// IsHeader reports whether a row holds names of columns and no values.
func IsHeader(rows []Row, i int) bool {
	f := finder{rows: rows}
	f.measure()
	return f.names(i)
}

// finder looks for the table in rows.
type finder struct {
	rows  []Row
	rules feedmill.Rules
	// width is how many cells most rows of the table have, and typed says which
	// of the columns hold numbers, dates and the like.
	width int
	typed []bool
}

// next is the first row from i on that is not blank, or the number of rows.
func (f *finder) next(i int) int {
	for i < len(f.rows) && f.rows[i].Blank {
		i++
	}
	return i
}

// at is the row of a line that somebody has said is the header.
func (f *finder) at(line int64) (int, error) {
	for i := range f.rows {
		if f.rows[i].Line == line && !f.rows[i].Blank {
			return i, nil
		}
	}
	detail := fmt.Sprintf("header is %d, but no row starts at that line; set header to the line of the column names", line)
	if last := len(f.rows) - 1; last >= 0 && f.rows[last].Line < line {
		detail = fmt.Sprintf("header is %d, but the header must be among the first lines of the data", line)
	}
	return 0, feedmill.Invalid(detail, feedmill.Fault{Parameter: "header", Detail: detail})
}

// measure finds the width of the table and the columns of values.
func (f *finder) measure() {
	widths := map[int]int{}
	for i := range f.rows {
		if r := &f.rows[i]; !r.Blank && !f.remark(i) {
			widths[len(r.Cells)]++
		}
	}
	for width, count := range widths {
		if most := widths[f.width]; count > most || count == most && width > f.width {
			f.width = width
		}
	}
	if bottom, rows := f.bottom(); bottom > f.width && rows > 1 && widths[f.width] <= maxPreamble && f.above(rows) {
		f.width = bottom
	}
	f.typed = make([]bool, f.width)
	begin := f.next(0)
	half := begin + (len(f.rows)-begin)/2
	whole := make([]bool, len(f.rows)) // rows as wide as the table that have more than one cell filled
	for i := range f.rows {
		whole[i] = len(f.rows[i].Cells) == f.width && f.rows[i].filled() > 1 && !f.repeatsAbove(i)
	}
	for column := range f.typed {
		values, all := 0, 0
		for i := max(half, begin+1); i < len(f.rows); i++ {
			if r := &f.rows[i]; whole[i] || f.width == 1 {
				if cell := r.cell(column); cell != "" && !isToken(cell) {
					all++
					if LooksTyped(cell) {
						values++
					}
				}
			}
		}
		f.typed[column] = all > 0 && values*10 >= all*6
	}
}

// repeatsAbove reports whether a row is one of the first rows again, and has nothing but names: it
// tells nothing of the columns.
func (f *finder) repeatsAbove(i int) bool {
	const first = 10
	if f.rules <= feedmill.RulesFirst || !namesOnly(f.rows[i].Cells) {
		return false
	}
	for j := range min(i, first) {
		if sameCells(&f.rows[j], &f.rows[i]) {
			return true
		}
	}
	return false
}

// bottom is the width of the last rows, and how many of them have it.
func (f *finder) bottom() (width, rows int) {
	for i := len(f.rows) - 1; i >= 0; i-- {
		r := &f.rows[i]
		switch {
		case r.Blank && rows == 0, !r.Blank && r.filled() < 2 && rows == 0:
		case r.Blank:
			return width, rows
		case width == 0:
			width, rows = len(r.Cells), 1
		case len(r.Cells) == width:
			rows++
		default:
			return width, rows
		}
	}
	return width, rows
}

// above reports whether the rows of the most frequent width all stand above the
// last ones, as many as are given: they are a long preamble.
func (f *finder) above(last int) bool {
	count := 0
	for i := len(f.rows) - 1; i >= 0; i-- {
		r := &f.rows[i]
		if r.Blank || r.filled() < 2 && count == 0 {
			continue
		}
		if count++; count <= last && len(r.Cells) == f.width {
			return false
		}
	}
	return f.width <= 2
}

// skipped counts the rows from one to before another that are not blank.
func (f *finder) skipped(from, to int) (n int64) {
	for i := from; i < to; i++ {
		if !f.rows[i].Blank {
			n++
		}
	}
	return n
}

// examples are the texts of rows.
func (f *finder) examples(from, to int) (list []feedmill.Example) {
	for i := from; i <= to && len(list) < 3; i++ {
		if r := &f.rows[i]; !r.Blank {
			list = append(list, feedmill.Example{Line: r.Line, Value: Excerpt(strings.Join(r.Cells, " | "))})
		}
	}
	return list
}

// lines names the lines of rows, with the verb that goes with them.
func (f *finder) lines(from, to int, one, several string) string {
	return Lines(f.rows[from].Line, f.rows[to].Line, one, several)
}

// Lines names lines, with the verb that goes with them.
func Lines(from, to int64, one, several string) string {
	if from == to {
		return fmt.Sprintf("Line %d %s", from, one)
	}
	return fmt.Sprintf("Lines %d to %d %s", from, to, several)
}

// Excerpt is the beginning of a text.
func Excerpt(text string) string {
	const enough = 40
	text = strings.TrimRight(text, " |")
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "") + "…"
}
