package input

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// MaxExploded is how many values one record can have when it is exploded.
const MaxExploded = 1 << 21

// NothingExploded warns that no record has anything at the path whose elements are to become rows.
func NothingExploded(path string) feedmill.Warning {
	return feedmill.Warning{Code: feedmill.WarnExplode, Count: 1, Detail: fmt.Sprintf("No record has a value at %s, so explode had no effect and every record is one row. The path in explode starts at the record.", path)}
}

// Explosion holds one record while its rows are made. Every list on the way is a
// level whose elements have cells of their own; a row is a way from the record down
// to an element without elements below it.
type Explosion struct {
	levels []explosionLevel
	// at is the level that values now belong to; 0 is the record.
	at int
	// size counts the cells and elements of all levels, of which there can be most.
	size, most int
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
	cells, children indexRange
}

type indexRange struct{ start, end int }

// NewExplosion returns one for records with so many lists in each other, and with so many
// values at most, which is [MaxExploded] outside of tests.
func NewExplosion(lists, most int) *Explosion {
	return &Explosion{levels: make([]explosionLevel, lists+1), most: most}
}

// Begin empties the explosion for another record.
func (e *Explosion) Begin() {
	for i := range e.levels {
		level := &e.levels[i]
		level.cells, level.elements = level.cells[:0], level.elements[:0]
	}
	e.at, e.size = 0, 0
	e.open(0)
}

// open begins an element of a level.
func (e *Explosion) open(level int) {
	l := &e.levels[level]
	element := explodedElement{cells: indexRange{start: len(l.cells)}}
	if level+1 < len(e.levels) {
		below := len(e.levels[level+1].elements)
		element.children = indexRange{below, below}
	}
	l.elements = append(l.elements, element)
}

// current is the element that values now belong to.
func (e *Explosion) current() *explodedElement {
	elements := e.levels[e.at].elements
	return &elements[len(elements)-1]
}

// Level is the level that values now belong to.
func (e *Explosion) Level() int { return e.at }

// Enter begins an element of a level, and returns the level that it stands in. It
// reports false where the record has too many values.
func (e *Explosion) Enter(level int) (around int, ok bool) {
	if e.size++; e.size > e.most {
		return 0, false
	}
	e.open(level)
	around, e.at = e.at, level
	return around, true
}

// Leave ends the element that was entered last, in the level around it.
func (e *Explosion) Leave(around int) {
	e.current().cells.end = len(e.levels[e.at].cells)
	level := e.at
	e.at = around
	e.current().children.end = len(e.levels[level].elements)
}

// Put adds a cell to the element that was entered last. It reports false where the
// record has too many values.
func (e *Explosion) Put(column int, cell columnar.Cell) bool {
	if e.size++; e.size > e.most {
		return false
	}
	e.Replace(column, cell)
	return true
}

// Replace is Put for a cell that stands for one that was put before.
func (e *Explosion) Replace(column int, cell columnar.Cell) {
	level := &e.levels[e.at]
	level.cells = append(level.cells, columnCell{column, cell})
}

// Forget takes back the elements of the next level that the one entered last has.
func (e *Explosion) Forget() {
	below := len(e.levels[e.at+1].elements)
	e.current().children = indexRange{below, below}
}

// Rows gives the rows of the record to add, each of so many columns. It reports
// false as soon as add does.
func (e *Explosion) Rows(columns int, add func(row []columnar.Cell) bool) bool {
	e.current().cells.end = len(e.levels[0].cells)
	return e.rows(columns, add, 0, e.levels[0].elements[0], nil)
}

// rows makes the rows of an element on top of what those around it have.
func (e *Explosion) rows(columns int, add func(row []columnar.Cell) bool, level int, element explodedElement, above []columnar.Cell) bool {
	l := &e.levels[level]
	if len(l.row) < columns {
		l.row = make([]columnar.Cell, columns)
	}
	row := l.row[:columns]
	clear(row[copy(row, above):])
	for _, c := range l.cells[element.cells.start:element.cells.end] {
		row[c.column] = c.cell
	}
	if element.children.start == element.children.end {
		return add(row)
	}
	for _, child := range e.levels[level+1].elements[element.children.start:element.children.end] {
		if !e.rows(columns, add, level+1, child, row) {
			return false
		}
	}
	return true
}
