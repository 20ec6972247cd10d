package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// Extent is which rows of a file are of its table.
type Extent struct {
	Footer FooterRule
	// Table is the number of the table that is read of a file that has several, from
	// 1; 0 reads all rows as one table.
	Table int
}

// FooterRule is which rows below a table are not part of it.
type FooterRule int

// The rules for footers.
const (
	DropFooter FooterRule = iota // those that [Footer] finds are not
	DropNotes                    // those that [Notes] finds are not
	KeepFooter                   // all rows are part of the table
	DropShort                    // those that [Short] finds are not
)

// MaxTables is how many tables of a file are told apart.
const MaxTables = 100

// First finds the first row below the table by the rule, in the last rows of a table with
// so many columns. Text says that the first column has text in other rows.
func (e Extent) First(rows []Row, columns int, text bool) int {
	switch e.Footer {
	case DropNotes:
		return Notes(rows, columns, text)
	case DropFooter:
		return Footer(rows, columns)
	case DropShort:
		return Short(rows, columns)
	}
	return len(rows)
}

// Notes finds the notes below a table: rows of which only the first cell is filled, and
// that follow a blank row or begin with a note marker. The cell must not fit the type of
// its column. Text fits a column of text, so there the row must both follow a blank row
// and begin with a marker. Where there are more than maxFooter such rows none are notes.
// It is the first of them, and the number of rows where there are none.
func Notes(rows []Row, columns int, text bool) int {
	if columns < 2 {
		return len(rows)
	}
	alone := func(i int) bool { return rows[i].filled() == 1 && rows[i].cell(0) != "" }
	empty := func(i int) bool { return rows[i].filled() == 0 }
	for i := range rows {
		cell := rows[i].cell(0)
		text = text || rows[i].filled() > 1 && cell != "" && !isToken(cell) && !LooksTyped(cell)
	}
	first, notes := len(rows), 0
	for i := len(rows) - 1; i > 0; i-- {
		if empty(i) {
			continue
		}
		if !alone(i) {
			break
		}
		above := i - 1
		for above >= 0 && alone(above) {
			above--
		}
		apart, marked := above >= 0 && empty(above), hasMarker(rows[i].cell(0))
		if LooksTyped(rows[i].cell(0)) || text && !(apart && marked) || !apart && !marked {
			break
		}
		first = i
		notes++
	}
	if notes > maxFooter || !slices.ContainsFunc(rows[:first], func(r Row) bool { return r.filled() > 0 }) {
		return len(rows)
	}
	return first
}

// hasMarker reports whether a text begins like a note.
func hasMarker(text string) bool {
	for _, mark := range []string{"*", "†", "‡", "§", "©", "(c)", "(C)", "¹", "²", "³", "# ", "---", "___", "==="} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	first, _, _ = strings.Cut(first, ":")
	switch strings.TrimRight(first, ".,()-") {
	case "source", "sources", "note", "notes", "note(s", "n.b", "nb", "footnote", "footnotes", "disclaimer", "confidential", "copyright", "generated", "exported", "printed", "report",
		"quelle", "quellen", "hinweis", "hinweise", "anmerkung", "anmerkungen", "stand", "nota", "notas", "fuente", "fuentes", "fonte", "bron", "opmerking", "remarque":
		return true
	}
	return false
}

// Second finds the header of another table than the one with the names, in rows that follow a
// blank row: below titles of one cell each is a header with other names, and below that are
// values in a column, or rows of another width. The rows end with the next blank one. Text says
// that the first column has text in other rows: a blank row can then stand below the titles,
// which elsewhere makes notes of them. It is -1 where there is no such table.
func Second(rows []Row, names []string, text bool) int {
	header := 0
	for header < len(rows) && header < maxTitles && rows[header].filled() < 2 && !hasMarker(rows[header].cell(0)) && (text || rows[header].filled() == 1) {
		header++
	}
	if isSecond(rows[header:], names) {
		return header
	}
	return -1
}

// maxTitles is how many titles and blank rows can stand above the header of another table.
const maxTitles = 4

// isSecond reports whether a table with other names begins with the first row.
func isSecond(rows []Row, names []string) bool {
	if len(rows) < 2 || rows[0].Blank {
		return false
	}
	from, to := rows[0].span()
	header := rows[0].Cells[from:to]
	if to-from < 2 || !namesOnly(header) || slices.Equal(header, trimmed(names)) {
		return false
	}
	typed := make([]bool, len(header))
	for j := range typed {
		typed[j] = true
	}
	first, last := (&Row{Cells: names}).span()
	wide := from != first || to != last
	below := 0
	seen := make([]bool, len(header))
	for i := 1; i < len(rows) && rows[i].filled() > 0; i++ {
		low, high := rows[i].span()
		below++
		wide = wide && low >= from && high <= to && rows[i].filled() > 1
		for j := range header {
			if cell := rows[i].cell(from + j); cell != "" && !isToken(cell) {
				seen[j] = true
				typed[j] = typed[j] && LooksTyped(cell)
			}
		}
	}
	values := false
	for j := range typed {
		values = values || typed[j] && seen[j]
	}
	return below > 0 && (values || wide)
}

// CertainTable reports whether rows, none of which is blank, are certain to be a table: below
// titles of one cell each, or of fewer cells than there are names, stand names, and below those rows
// that are no wider, with nothing but values in one of the columns. The names can be repeated.
func CertainTable(rows []Row) bool {
	for len(rows) > 0 && (rows[0].filled() == 1 || aboveNames(rows)) {
		rows = rows[1:]
	}
	if len(rows) < 3 {
		return false
	}
	from, to := rows[0].span()
	if to-from < 2 || !namesOnly(rows[0].Cells[from:to]) {
		return false
	}
	values := make([]int, to-from)
	for i := range rows[1:] {
		r := &rows[1+i]
		low, high := r.span()
		if r.Blank || low < from || high > to {
			return false
		}
		if sameCells(r, &rows[0]) {
			continue // the header again
		}
		for j := range values {
			switch cell := r.cell(from + j); {
			case cell == "" || isToken(cell) || r.filled() == 1 || values[j] < 0:
			case LooksTyped(cell):
				values[j]++
			default:
				values[j] = -1
			}
		}
	}
	return slices.Max(values) > 1
}

// aboveNames reports whether the first row and those below it that have as few cells stand above a
// row of names that fills all columns.
func aboveNames(rows []Row) bool {
	for i := 1; i < len(rows) && i <= maxTitles; i++ {
		if filled := rows[i].filled(); filled > rows[0].filled() {
			return filled == len(rows[i].Cells) && namesOnly(rows[i].Cells)
		}
	}
	return false
}

// FirstTable is how many of the rows are titles and a table that is certain to be one, up to a
// blank row; all of them where there is none.
func FirstTable(rows []Row) int {
	start := 0
	for i := 0; i <= len(rows); i++ {
		if i < len(rows) && !rows[i].Blank {
			continue
		}
		if CertainTable(rows[start:i]) {
			return i
		}
		start = i + 1
	}
	return len(rows)
}

// namesOnly reports whether cells are names of columns, each of its own.
func namesOnly(cells []string) bool {
	for j, cell := range cells {
		if cell == "" || LooksTyped(cell) || isValue(cell) || isToken(cell) || strings.HasSuffix(cell, ":") || slices.Contains(cells[:j], cell) {
			return false
		}
	}
	return true
}

// span is where the first filled cell is, and behind the last.
func (r *Row) span() (from, to int) {
	to = len(r.Cells)
	for to > 0 && r.Cells[to-1] == "" {
		to--
	}
	for from < to && r.Cells[from] == "" {
		from++
	}
	return from, to
}

func trimmed(names []string) []string {
	from, to := (&Row{Cells: names}).span()
	return names[from:to]
}

// SecondTable warns of the lines of another table, which is the table of that number.
func SecondTable(first int64, header Row, last int64, number int) feedmill.Warning {
	return feedmill.Warning{
		Code: feedmill.WarnSecondTable, Count: last - first + 1,
		Examples: []feedmill.Example{{Line: header.Line, Value: Excerpt(strings.Join(header.Cells, " | "))}},
		Detail:   fmt.Sprintf("Lines %d to %d contain another table, whose header is in line %d. They were not imported. Set table=%d to read that table, or table=all to read every line as one table.", first, last, header.Line, number),
	}
}

// NoTable refuses the number of a table that a file does not have.
func NoTable(number, tables int) error {
	has := "one table"
	if tables > 1 {
		has = fmt.Sprintf("%d tables", tables)
	}
	return feedmill.Invalid("The file does not have this table.", feedmill.Fault{Parameter: "table", Detail: fmt.Sprintf("table is %d, but the file has %s.", number, has)})
}
