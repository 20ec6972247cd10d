package json

import (
	"strings"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// columnCount is what an object says of whether its members are columns.
type columnCount struct {
	// length is how many values are in it, nulls included.
	length int64
	// columns counts the arrays in it, each of which has so many rows; uneven says that
	// they differ in that, or that one has arrays or objects in it.
	columns, rows int64
	uneven        bool
}

const (
	// fewRows is how many rows an object of columns has to have that has other members,
	// and below which it is a guess that it is one.
	fewRows = 10
	// maxColumnObjects is how many objects of columns are remembered.
	maxColumnObjects = 64
)

// closeColumns looks at an array that may be a column, and at an object that may have
// columns, when it ends.
func (l *locator) closeColumns(frame *locatorFrame, bytes int64) {
	top := len(l.open) - 1
	switch {
	case frame.array && top > 0 && !l.open[top-1].array:
		around := &l.open[top-1]
		if around.columns == 0 {
			around.rows = frame.length
		}
		around.columns++
		around.uneven = around.uneven || frame.objects+frame.arrays > 0 || frame.length != around.rows
	case !frame.array && frame.hasColumns() && len(l.columns) < maxColumnObjects:
		l.columns = append(l.columns, candidate{path: l.path(), bytes: bytes, count: frame.rows, start: frame.start})
	}
}

// hasColumns reports whether the members of an object are the columns of a table:
// several arrays of one length, and nothing beside them but a little in a long table.
func (f *locatorFrame) hasColumns() bool {
	beside := f.objects + f.others
	return f.columns > 1 && !f.uneven && (beside == 0 || f.rows >= fewRows && beside < f.columns)
}

// largestColumns is the object of columns with the most bytes, nil for none. One row is
// none: that is a record whose arrays have one value each.
func (l *locator) largestColumns() (largest *candidate) {
	for i := range l.columns {
		if c := &l.columns[i]; c.count > 1 && (largest == nil || c.bytes > largest.bytes) {
			largest = c
		}
	}
	return largest
}

// expectedColumns is the object of columns that the records were in before, however
// many rows it has now.
func (l *locator) expectedColumns() *candidate {
	for i := range l.columns {
		if c := &l.columns[i]; l.wanted.path != "" && jsonpath.Text(c.members()) == l.wanted.path {
			return c
		}
	}
	return nil
}

// columnsPlace is the place of rows that stand in columns.
func (l *locator) columnsPlace(c *candidate) recordPlace {
	place := recordPlace{steps: c.members(), shape: shapeColumns, span: c.span()}
	for i := range l.columns {
		if l.columns[i].count > 1 {
			place.other(&l.columns[i])
		}
	}
	return place
}

// nothing is the place of the records of a document that is null: no path leads to any,
// and none is to be remembered.
func (l *locator) nothing() recordPlace {
	if !l.scalar() || l.next() != walkEnd {
		return recordPlace{}
	}
	return recordPlace{steps: []jsonpath.Step{jsonpath.IndexStep(-1)}, nothing: true}
}

// noteNull remembers a member that is null where others have a list.
func (l *locator) noteNull(top int) {
	if name := strings.ToLower(string(l.name)); l.frames[top].object && pluralNames[name] && len(l.lists) < maxLists {
		l.lists = append(l.lists, append(l.path(), jsonpath.NameStep(string(l.name)), jsonpath.AllStep()))
	}
}

// listNames are what APIs call the array of their records.
var listNames = map[string]bool{
	"data": true, "items": true, "results": true, "result": true, "records": true, "rows": true, "value": true, "values": true, "list": true,
	"entries": true, "hits": true, "content": true, "elements": true, "objects": true, "nodes": true, "edges": true, "documents": true, "docs": true, "response": true,
}

// pluralNames are those of listNames that nothing but a list has: a null value may be
// one that is not known.
var pluralNames = map[string]bool{
	"data": true, "items": true, "results": true, "records": true, "rows": true, "entries": true, "hits": true,
	"elements": true, "objects": true, "nodes": true, "edges": true, "documents": true, "docs": true,
}

// outweighs reports whether an object of columns is nearly all of a document of so many
// bytes, beside a list of records.
func (c *candidate) outweighs(list *candidate, document int64) bool {
	return c.bytes > 4*list.bytes && 2*c.bytes > document
}
