package json

import (
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// explodeStep is a name on the way to the array that is exploded. Where level
// is not 0, the elements of an array here become rows, and it counts how many
// such arrays there are on the way up to here.
type explodeStep struct {
	name  string
	level int
}

// parseExplode reads the path below the record whose array elements become
// rows: names, and [*] where an array on the way is taken apart as well. The [*] of the
// last array may be left out, and so may the $. before the first name.
func parseExplode(text string) ([]explodeStep, error) {
	full := text
	if text == "" || text[0] != '$' {
		full = "$." + text
	}
	path, err := jsonpath.Parse(full)
	if err != nil {
		return nil, invalidParameter("explode", "%v", err)
	}
	const want = "explode is names and [*], such as $.lines[*] or $.orders[*].lines[*]"
	steps, ok := path.Steps()
	if !ok {
		return nil, invalidParameter("explode", want)
	}
	var explode []explodeStep
	level := 0
	for _, step := range steps {
		name, named := step.Name()
		last := len(explode) - 1
		switch {
		case named:
			explode = append(explode, explodeStep{name: name})
		case step.All() && last >= 0 && explode[last].level == 0:
			level++
			explode[last].level = level
		default:
			return nil, invalidParameter("explode", want)
		}
	}
	last := len(explode) - 1
	if last < 0 {
		return nil, invalidParameter("explode", want)
	}
	if explode[last].level == 0 {
		explode[last].level = level + 1
	}
	return explode, nil
}

// explosion holds one record while its rows are made. Every array on the way
// is a level whose elements have the cells of their own; a row is a way
// from the record down to an element without elements below it.
type explosion struct {
	levels []explosionLevel
	// at is the level that values now belong to; 0 is the record.
	at int
	// size counts the cells and elements of all levels.
	size int
}

type explosionLevel struct {
	cells    []columnCell
	elements []explodedElement
	row      []columnar.Cell
}

type columnCell struct {
	column int
	cell   columnar.Cell
}

// explodedElement has a range of its level's cells, and of the next level's
// elements.
type explodedElement struct {
	cells, children textRange
}

func newExplosion(steps []explodeStep) *explosion {
	return &explosion{levels: make([]explosionLevel, steps[len(steps)-1].level+1)}
}

// begin empties the explosion for another record.
func (e *explosion) begin() {
	for i := range e.levels {
		level := &e.levels[i]
		level.cells, level.elements = level.cells[:0], level.elements[:0]
	}
	e.at, e.size = 0, 0
	e.open(0)
}

// open begins an element of a level.
func (e *explosion) open(level int) {
	l := &e.levels[level]
	element := explodedElement{cells: textRange{start: len(l.cells)}}
	if level+1 < len(e.levels) {
		below := len(e.levels[level+1].elements)
		element.children = textRange{below, below}
	}
	l.elements = append(l.elements, element)
}

// current is the element that values now belong to.
func (e *explosion) current() *explodedElement {
	elements := e.levels[e.at].elements
	return &elements[len(elements)-1]
}

// put adds a cell to the current element. It returns end.
func (e *explosion) put(r *recordReader, column int, cell columnar.Cell, i, end int) int {
	if e.size++; e.size > maxExploded {
		return r.fail(i, "the record has more than %d values, which is too many to explode; a path can select them as records", maxExploded)
	}
	level := &e.levels[e.at]
	level.cells = append(level.cells, columnCell{column, cell})
	return end
}

// clear takes back what the current element has of a name.
func (e *explosion) clear(node *nameNode) {
	switch {
	case node.level == e.at+1:
		below := len(e.levels[node.level].elements)
		e.current().children = textRange{below, below}
	case node.column >= 0:
		level := &e.levels[e.at]
		level.cells = append(level.cells, columnCell{column: node.column})
	}
}

// elements reads the value of a name whose array elements become rows. A value
// that is no array counts as an array of it, and null as one of nothing.
func (r *recordReader) elements(node *nameNode, i, depth int) int {
	switch r.data[i] {
	case 'n':
		return r.word(i)
	case '[':
	default:
		return r.element(node, i, depth)
	}
	if depth >= maxDepth {
		return r.fail(i, "more than %d arrays and objects stand in each other", maxDepth)
	}
	if i = r.space(i + 1); r.data[i] == ']' {
		return i + 1
	}
	for {
		if i = r.element(node, i, depth+1); i < 0 {
			return -1
		}
		i = r.space(i)
		switch r.data[i] {
		case ']':
			return i + 1
		case ',':
			i = r.space(i + 1)
		default:
			return r.failExpected(i, "a comma or ] after an element")
		}
	}
}

// element reads one element that becomes a row, or several.
func (r *recordReader) element(node *nameNode, i, depth int) int {
	e := r.explosion
	if e.size++; e.size > maxExploded {
		return e.put(r, 0, 0, i, 0)
	}
	e.open(node.level)
	parent, stamp := e.at, r.stamp
	e.at = node.level
	r.lastStamp++
	r.stamp = r.lastStamp
	if i = r.plainValue(node, i, depth); i < 0 {
		return -1
	}
	e.current().cells.end = len(e.levels[e.at].cells)
	e.at, r.stamp = parent, stamp
	e.current().children.end = len(e.levels[node.level].elements)
	return i
}

// end makes the rows of the record.
func (e *explosion) end(r *recordReader) bool {
	e.current().cells.end = len(e.levels[0].cells)
	return e.rows(r, 0, e.levels[0].elements[0], nil)
}

// rows makes the rows of an element on top of what those around it have.
func (e *explosion) rows(r *recordReader, level int, element explodedElement, above []columnar.Cell) bool {
	l := &e.levels[level]
	if len(l.row) < r.columns {
		l.row = make([]columnar.Cell, r.columns)
	}
	row := l.row[:r.columns]
	clear(row[copy(row, above):])
	for _, c := range l.cells[element.cells.start:element.cells.end] {
		row[c.column] = c.cell
	}
	if element.children.start == element.children.end {
		if !r.openRow() {
			return false
		}
		copy(r.row, row)
		r.cells.Rows++
		return true
	}
	for _, child := range e.levels[level+1].elements[element.children.start:element.children.end] {
		if !e.rows(r, level+1, child, row) {
			return false
		}
	}
	return true
}
