package json

import (
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/share"
)

// recordReader makes cells of records, as one goroutine of a pass over the data.
type recordReader struct {
	nestedReader
	table *Table
	root  *nameNode
	// nodes counts the names that are known.
	nodes int

	cells columnar.Cells
	// row has the cells of the record that is being read.
	row []columnar.Cell
	// columns is how many cells a row has.
	columns int

	// stamp is the number of the row that is being read, and lastStamp the
	// highest that was given.
	stamp, lastStamp uint64
	// log has the names of the objects in the record in the order of its text.
	log []*nameNode

	explosion *input.Explosion
	notes     notes
	tree      jsonpath.Tree
	// long has others take turns before a record at turnAt or behind.
	long   share.Long
	turnAt int
	work   *jsonpath.Work
	block  block
	// selected has the records that a path selected in the lines of the block.
	selected block
	// turn orders the blocks of the first reading; it is nil in later ones.
	turn *input.Turns
	// first is the number of the block's first row, where firstKnown says so,
	// and done how many of its rows were handed on.
	first      int64
	firstKnown bool
	done       int64
	emit       func(*columnar.Cells) error
	// failure is an error that is no fault of the data.
	failure error
}

// longText is how many bytes of records are read before others have a turn.
const longText = 64 << 10

// record reads the record at i and returns where it ends.
func (r *recordReader) record(i int) int {
	if i >= r.turnAt {
		r.turnAt = i + longText
		r.long.Step()
	}
	if !r.beginRow() {
		return -1
	}
	if r.data[i] == '{' {
		r.notes.objects++
		i = r.object(r.root, i+1, 1)
	} else {
		r.notes.others.note(r.rowInBlock())
		i = r.bareRecord(i)
	}
	if i < 0 || !r.endRow() {
		return -1
	}
	return i
}

// bareRecord reads a record that is no object: the value of a column of its
// own. Null makes no column, because rows without a value have it anyway.
func (r *recordReader) bareRecord(i int) int {
	if r.data[i] == 'n' {
		return r.word(i)
	}
	node := r.child(r.root, valueName, i)
	if node == nil {
		return -1
	}
	return r.plainValue(node, i, 0)
}

// object reads the members of an object whose first is at i, and returns where
// it ends. The object itself is one of depth that stand in each other.
func (r *recordReader) object(node *nameNode, i, depth int) int {
	data := r.data
	if data[i] <= ' ' {
		i = r.space(i)
	}
	if data[i] == '}' {
		return i + 1
	}
	expected := node.first
	var previous *nameNode
	for {
		child := expected
		switch {
		case child != nil && child.isAt(data, i):
			i += len(child.quoted)
		case child != nil && child.next != nil && child.next.isAt(data, i):
			// Records often lack a member that others have.
			child = child.next
			i += len(child.quoted)
		default:
			if child, i = r.name(node, i); child == nil {
				return -1
			}
			if previous == nil {
				node.first = child
			} else {
				previous.next = child
			}
		}
		if data[i] != ':' {
			if i = r.space(i); data[i] != ':' {
				return r.failExpected(i, "a colon after the name")
			}
		}
		i++
		if data[i] <= ' ' {
			i = r.space(i)
		}
		if child.stamp == r.stamp {
			r.repeated(child)
		}
		child.stamp = r.stamp
		if depth > 1 {
			r.log = append(r.log, child)
		}
		if child.level == 0 {
			i = r.plainValue(child, i, depth)
		} else {
			i = r.elements(child, i, depth)
		}
		if i < 0 {
			return -1
		}
		if data[i] <= ' ' {
			i = r.space(i)
		}
		if data[i] != ',' {
			if data[i] == '}' {
				return i + 1
			}
			return r.failExpected(i, "a comma or } after a member")
		}
		i++
		if data[i] <= ' ' {
			i = r.space(i)
		}
		previous, expected = child, child.next
	}
}

// plainValue reads the value of a name, which is not exploded, and returns
// where it ends.
func (r *recordReader) plainValue(node *nameNode, i, depth int) int {
	var cell columnar.Cell
	var end int
	switch c := r.data[i]; c {
	case '"':
		last, escaped := r.quoted(i + 1)
		if last < 0 {
			return -1
		}
		text := last
		if escaped {
			if text = len(r.unescape(r.data[:i+1], i+1, last)); r.fault != nil {
				return -1
			}
		}
		cell, end = columnar.NewCell(columnar.CellString, i+1, text), last+1
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end = r.number(i); end < 0 {
			return -1
		}
		cell = columnar.NewCell(columnar.CellNumber, i, end)
	case '{':
		if depth >= maxDepth {
			return r.fail(i, "arrays and objects are nested more than %d levels deep", maxDepth)
		}
		logStart := len(r.log)
		if end = r.object(node, i+1, depth+1); end < 0 || len(r.log) > logStart {
			node.objectStamp, node.logStart, node.logEnd = r.stamp, logStart, len(r.log)
			return end
		}
		// An empty object is a value of its own, or it would be lost.
		r.data[i+1] = '}'
		cell = columnar.NewCell(columnar.CellJSON, i, i+2)
	case '[':
		text, next := r.nested(i, depth)
		if next < 0 {
			return -1
		}
		if r.duplicates > 0 {
			r.notes.repeat(node, r.duplicates, r.rowInBlock())
			r.duplicates = 0
		}
		cell, end = columnar.NewCell(columnar.CellJSON, text.start, text.end), next
	default:
		if end = r.word(i); end < 0 {
			return -1
		}
		kind := columnar.CellNull
		switch c {
		case 't':
			kind = columnar.CellTrue
		case 'f':
			kind = columnar.CellFalse
		}
		cell = columnar.NewCell(kind, i, i)
	}
	if r.explosion == nil && uint(node.column) < uint(len(r.row)) {
		r.row[node.column] = cell
		return end
	}
	return r.put(node, cell, i, end)
}

// put sets the cell of a name in the current row, for a value at i, and
// returns end.
func (r *recordReader) put(node *nameNode, cell columnar.Cell, i, end int) int {
	if node.column < 0 && !r.addColumn(node, i) {
		return -1
	}
	if r.explosion != nil {
		if !r.explosion.Put(node.column, cell) {
			return r.failExploded(i)
		}
		return end
	}
	r.row[node.column] = cell
	return end
}

// name reads a name that was not expected and returns its node and where the
// text goes on.
func (r *recordReader) name(node *nameNode, i int) (*nameNode, int) {
	if r.data[i] != '"' {
		return nil, r.failExpected(i, "a name in double quotes")
	}
	end, escaped := r.quoted(i + 1)
	if end < 0 {
		return nil, -1
	}
	name := r.data[i+1 : end]
	if escaped {
		name = r.unescape(r.scratch[:0], i+1, end)
		if r.fault != nil {
			return nil, -1
		}
		r.scratch = name
	}
	child := node.children[string(name)]
	if child == nil {
		child = r.child(node, string(name), i)
	}
	return child, end + 1
}

// child is the node of a name, which is made where it is not known yet, for a
// name at i.
func (r *recordReader) child(node *nameNode, name string, i int) *nameNode {
	if child := node.children[name]; child != nil {
		return child
	}
	child := node.newChild(name)
	if r.nodes++; r.nodes > maxNodes {
		r.fail(i, "the records have more than %d keys, the maximum; if the keys are data, set path to select their values, such as $.*", maxNodes)
		return nil
	}
	if length := child.nameBytes(); length > maxNameBytes {
		r.fail(i, "the column name is %d bytes long; the maximum is %d", length, maxNameBytes)
		return nil
	}
	return child
}

// repeated makes room for the value of a name that stands in its object again.
func (r *recordReader) repeated(node *nameNode) {
	r.notes.repeat(node, 1, r.rowInBlock())
	r.clear(node)
	if node.objectStamp != r.stamp {
		return
	}
	for _, below := range r.log[node.logStart:node.logEnd] {
		r.clear(below)
		below.stamp, below.objectStamp = 0, 0
	}
	node.objectStamp = 0
}

// clear takes the value of a name out of the row.
func (r *recordReader) clear(node *nameNode) {
	switch {
	case r.explosion != nil:
		r.clearExploded(node)
	case node.column >= 0:
		r.row[node.column] = 0
	}
}
