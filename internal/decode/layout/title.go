package layout

import "github.com/feedmill/feedmill"

// aboveNarrower reports whether a row is a title above a table that is certain to be one,
// although it has cells beyond those of the table. Only titles stand between them: a row below
// that is as wide makes the row the header of a table of its own.
func (f *finder) aboveNarrower(i int) bool {
	if f.rules <= feedmill.RulesFirst {
		return false
	}
	r := &f.rows[i]
	first, wide := r.span()
	if f.pairs(i) {
		wide = len(r.Cells)
	}
	for j := f.next(i + 1); j < len(f.rows) && j < i+maxPreamble; j = f.next(j + 1) {
		from, to := f.rows[j].span()
		switch {
		case to-from < 2 || f.pairs(j):
		case from == first && to == wide && f.rows[j].filled() == r.filled():
			return false
		case to < wide && f.rows[j].filled() == to-from:
			return f.certainFrom(j) && !f.mostlyUnits(j)
		}
	}
	return false
}

// aboveTitles reports whether a row, with others below it that do not name all columns or with
// blank ones, stands above a row of names for all columns, with values below. Of two rows of names
// alone the upper one can name groups of columns.
func (f *finder) aboveTitles(i int) bool {
	if f.rules <= feedmill.RulesFirst || !f.hasTyped() {
		return false
	}
	header := i + 1
	for header < len(f.rows) && (f.rows[header].Blank || f.rows[header].filled() < f.width && f.names(header)) {
		header++
	}
	below := f.next(header + 1)
	return header > i+1 && below < len(f.rows) && f.rows[header].filled() >= f.width && f.names(header) && (!f.names(below) || f.rule(below) || f.units(below))
}

// certainFrom reports whether a table begins at a row that is certain to be one, in its first
// rows or with those behind a blank one or two.
func (f *finder) certainFrom(i int) bool {
	var rows []Row
	for range 3 {
		end := f.paragraph(i)
		if rows = append(rows, f.rows[i:end]...); CertainTable(rows) {
			return true
		}
		i = f.next(end)
	}
	return false
}

// paragraph is the end of the rows from one on that are not blank.
func (f *finder) paragraph(i int) int {
	for i < len(f.rows) && !f.rows[i].Blank && f.rows[i].filled() > 0 {
		i++
	}
	return i
}

// typedBelow reports whether a column has nothing but values below a row, up to a blank one.
func (f *finder) typedBelow(i, column int) bool {
	values, end := 0, f.paragraph(i)
	for k := i + 1; k < end; k++ {
		cell := f.rows[k].cell(column)
		if cell == "" || isToken(cell) || i > 0 && sameCells(&f.rows[k], &f.rows[i-1]) { // the header again
			continue
		}
		if !LooksTyped(cell) {
			return false
		}
		values++
	}
	return values > 0
}

// mostlyUnits reports whether at least half of the cells of a row are units, or say that there
// is none.
func (f *finder) mostlyUnits(i int) bool {
	units := 0
	for _, cell := range f.rows[i].Cells {
		if cell != "" && (isUnit(cell) || noUnit(cell)) {
			units++
		}
	}
	return units*2 >= f.rows[i].filled()
}
