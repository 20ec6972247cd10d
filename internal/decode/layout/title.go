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
			return CertainTable(f.rows[j:f.paragraph(j)]) && !f.mostlyUnits(j)
		}
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
