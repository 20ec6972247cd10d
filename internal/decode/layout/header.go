package layout

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// find finds the header from a row on, and the first row of data.
func (f *finder) find(begin int, t *Table) {
	t.First = begin
	for i := begin; i < len(f.rows) && i < begin+maxPreamble; i++ {
		r := &f.rows[i]
		if r.Blank || f.remark(i) {
			continue
		}
		switch f.judge(i, begin) {
		case isNames:
			t.Header, t.First = []int{i}, i+1
			f.below(t)
			return
		case isUpper:
			lower := f.next(i + 1)
			t.Header, t.First = []int{i, lower}, lower+1
			f.below(t)
			return
		case isData:
			if f.skipped(begin, i) > 0 && f.onlyTitles(begin, i) {
				t.First = i
				t.warn(feedmill.WarnPreamble, f.skipped(begin, i), f.examples(begin, i-1), "%s left out because the data starts below. Set header=… to choose the header line.", f.lines(begin, i-1, "was", "were"))
			}
			return
		}
	}
}

// verdict is what a row is.
type verdict int

const (
	isTitle verdict = iota
	isNames         // of the columns
	isUpper         // the upper row of names that take two
	isData
)

// judge says what a row is that may be the header.
func (f *finder) judge(i, begin int) verdict {
	r := &f.rows[i]
	filled, lower := r.filled(), f.next(i+1)
	if f.width == 1 {
		if f.names(i) {
			return isNames
		}
		return isData
	}
	if filled < 2 && !(f.width == 2 && filled == 1 && len(r.Cells) == 2 && r.Cells[0] == "" && f.names(i)) {
		if filled == 1 && len(r.Cells) == f.width && r.Cells[0] != "" && LooksTyped(r.Cells[0]) {
			return isData
		}
		return isTitle
	}
	if f.aboveNarrower(i) {
		return isTitle
	}
	if !f.names(i) {
		if f.periodsAbove(i, lower) {
			return isUpper
		}
		if f.headerFollows(i) {
			return isTitle
		}
		return isData
	}
	if len(r.Cells) >= f.width && filled >= f.width {
		if f.pairs(i) && (i > begin || f.headerFollows(i)) {
			return isTitle
		}
		return isNames
	}
	if f.aboveTitles(i) {
		return isTitle
	}
	if lower < len(f.rows) && lower == i+1 && f.names(lower) && f.hasTyped() {
		switch {
		case f.isUpper(i, lower):
			return isUpper
		case f.rows[lower].filled() > filled:
			return isTitle
		}
	}
	if f.headerFollows(i) && (filled*2 <= f.width || f.pairs(i)) {
		return isTitle
	}
	if len(r.Cells) == f.width || filled*2 >= f.width || i == begin {
		return isNames
	}
	return isTitle
}

func (f *finder) hasTyped() bool { return slices.Contains(f.typed, true) }

// headerFollows reports whether a row with names for all columns stands below a
// row that is not like those of the table, with nothing but such rows between them.
func (f *finder) headerFollows(i int) bool {
	blank := false
	for j := i + 1; j < len(f.rows) && j < i+maxPreamble; j++ {
		r := &f.rows[j]
		if r.Blank {
			blank = true
			continue
		}
		if len(r.Cells) >= f.width && r.filled()*10 >= f.width*8 && !f.pairs(j) {
			if !f.names(j) {
				return false
			}
			return blank || len(f.rows[i].Cells) != len(r.Cells) || f.rows[i].filled()*2 <= f.width || f.pairs(i)
		}
	}
	return false
}

// pairs reports whether a row is names and values in turn: Period: | 2024 |
func (f *finder) pairs(i int) bool {
	for _, cell := range f.rows[i].Cells {
		if strings.HasSuffix(cell, ":") {
			return true
		}
	}
	return false
}

// onlyTitles reports whether the rows before one are titles.
func (f *finder) onlyTitles(from, to int) bool {
	for i := from; i < to; i++ {
		if r := &f.rows[i]; !r.Blank && !f.remark(i) && len(r.Cells) >= f.width {
			return false
		}
	}
	return true
}

// remark reports whether a row is one: it begins with a # that belongs to no name.
func (f *finder) remark(i int) bool {
	cell := f.rows[i].cell(0)
	return strings.HasPrefix(cell, "# ") || cell == "#" && f.rows[i].filled() == 1 || strings.HasPrefix(cell, "#") && f.width > 0 && len(f.rows[i].Cells) != f.width
}

// isUpper reports whether a row names groups of the columns that the row below
// it names: it has blanks, which stand for the name at their left.
func (f *finder) isUpper(upper, lower int) bool {
	up, low := &f.rows[upper], &f.rows[lower]
	if up.filled() < 2 || f.pairs(upper) || up.filled() >= f.width {
		return false
	}
	// Names that stand twice in the lower row need the upper one.
	names := map[string]bool{}
	for _, name := range low.Cells {
		if name != "" && names[name] {
			return true
		}
		names[name] = true
	}
	between, under := false, false
	last := -1
	for j := range f.width {
		if up.cell(j) == "" {
			continue
		}
		between = between || j-last > 1
		under = under || low.cell(j) == ""
		last = j
	}
	return between || under
}

// periodsAbove reports whether a row is nothing but years, months or days that name
// groups of the columns below: 2023 | | 2024 | | over Sales | Cost | Sales | Cost
func (f *finder) periodsAbove(upper, lower int) bool {
	if lower != upper+1 || lower >= len(f.rows) || !f.hasTyped() {
		return false
	}
	var periods []int
	for j, cell := range f.rows[upper].Cells {
		if cell == "" {
			continue
		}
		if _, ok := periodKey(cell); !ok {
			return false
		}
		periods = append(periods, j)
	}
	return f.names(lower) && f.inOrder(upper, periods) && f.isUpper(upper, lower)
}

// join puts the names of several rows together.
func (f *finder) join(header []int) []string {
	last := &f.rows[header[len(header)-1]]
	if len(header) == 1 {
		return slices.Clone(last.Cells)
	}
	up := &f.rows[header[0]]
	names := make([]string, max(len(up.Cells), len(last.Cells)))
	group := ""
	for j := range names {
		if cell := up.cell(j); cell != "" {
			group = cell
		}
		names[j] = strings.TrimSpace(group + " " + last.cell(j))
	}
	return names
}

// below takes out what stands between the header and the data: descriptions, or rules of dashes
// and units.
func (f *finder) below(t *Table) {
	if f.describe(t) {
		return
	}
	for range 2 {
		i := f.next(t.First)
		if i >= len(f.rows) || f.width < 1 {
			return
		}
		switch {
		case f.rule(i):
			t.warn(feedmill.WarnRule, 1, f.examples(i, i), "%s a separator below the header and was left out.", f.lines(i, i, "is", "are"))
		case t.Units == nil && f.units(i):
			t.Units = unitsOf(f.rows[i].Cells)
			t.warn(feedmill.WarnUnits, 1, f.examples(i, i), "%s the units of the columns, which were added to their descriptions. Set header=%d to import the line as data.",
				f.lines(i, i, "contains", "contain"), f.rows[t.Header[len(t.Header)-1]].Line)
		default:
			return
		}
		t.First = i + 1
	}
}

// rule reports whether a row is nothing but lines of dashes.
func (f *finder) rule(i int) bool {
	r := &f.rows[i]
	for _, cell := range r.Cells {
		if cell != "" && (len(cell) < 2 || strings.Trim(cell, "-=_+:") != "") {
			return false
		}
	}
	return r.filled() > 0 && (r.filled()*2 > f.width || f.width == 1)
}

// units reports whether a row has the units of columns of values.
func (f *finder) units(i int) bool {
	r := &f.rows[i]
	known, typed := 0, 0
	for j, cell := range r.Cells {
		if cell == "" || f.rules > feedmill.RulesFirst && noUnit(cell) {
			continue
		}
		if !isUnit(cell) {
			return false
		}
		known++
		if j < f.width && (f.typed[j] || f.rules > feedmill.RulesFirst && f.typedBelow(i, j)) {
			typed++
		}
	}
	return known > 0 && typed*2 >= known && f.width > 1 && f.next(i+1) < len(f.rows)
}

// noUnit reports whether a cell of a row of units means that its column has none.
func noUnit(cell string) bool { return cell == "-" || cell == "--" || cell == "–" || cell == "—" }

// unitsOf are the units of a row of them.
func unitsOf(cells []string) []string {
	units := slices.Clone(cells)
	for j, cell := range units {
		if noUnit(cell) {
			units[j] = ""
		}
	}
	return units
}
