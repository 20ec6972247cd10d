package decode

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// valueName is the column of records that are no objects.
const valueName = "value"

// jsonColumns are the columns of a decoder in the order in which they first
// appear in the data. A column is the way to it, name by name: {"a":{"b":1}}
// and {"a.b":1} are two, although both are called a.b.
type jsonColumns struct {
	mu     sync.Mutex
	byPath map[string]int
	names  []string
	paths  []string
	// filled says of each column that it has something else than nulls.
	filled []bool
}

func newJSONColumns() *jsonColumns {
	return &jsonColumns{byPath: make(map[string]int)}
}

// lookup is the number of the column at a path, or -1, and whether it has
// something else than nulls.
func (c *jsonColumns) lookup(path string) (column int, filled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if column, ok := c.byPath[path]; ok {
		return column, c.filled[column]
	}
	return -1, false
}

// add gives the column of a node a number, where it has none yet.
func (c *jsonColumns) add(node *jsonNode) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := node.path()
	if column, ok := c.byPath[path]; ok {
		return column
	}
	column := len(c.names)
	c.byPath[path] = column
	c.names, c.paths, c.filled = append(c.names, node.flatName()), append(c.paths, path), append(c.filled, false)
	return column
}

// fill notes that a column has something else than nulls.
func (c *jsonColumns) fill(column int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filled[column] = true
}

// hollow lists the columns that have nothing but nulls where other records
// have objects.
func (c *jsonColumns) hollow() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The columns below a path come right after it in order.
	sorted := slices.Sorted(slices.Values(c.paths))
	var columns []int
	for column, path := range c.paths {
		if c.filled[column] {
			continue
		}
		next, _ := slices.BinarySearch(sorted, path)
		if next++; next < len(sorted) && strings.HasPrefix(sorted[next], path) {
			columns = append(columns, column)
		}
	}
	return columns
}

// list is the names of all columns.
func (c *jsonColumns) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names)
}

// index is the first column of a name, or -1.
func (c *jsonColumns) index(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Index(c.names, name)
}

func (c *jsonColumns) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.names)
}

// jsonNode is a name in the objects of the records, as one goroutine knows
// them. What followed a name in the last object is expected to follow it in
// the next.
type jsonNode struct {
	parent   *jsonNode
	name     string
	children map[string]*jsonNode
	// column is the number of the column of values here, or -1, and filled
	// says that it is known to have something else than nulls.
	column int
	filled bool

	// first is the child that came first in the last object, and next the
	// sibling that came after this one.
	first, next *jsonNode
	// quoted is the name as it stands in the text where it has no escapes.
	// Its first 16 bytes are compared as two words.
	quoted     string
	head, tail uint64
	headMask   uint64
	tailMask   uint64

	// stamp is the row in which the name was last seen, and objectStamp the
	// one in which it had an object, whose names are log[logStart:logEnd].
	stamp, objectStamp uint64
	logStart, logEnd   int

	// explode says which names from here on lead to an array whose elements
	// become rows, and level that the values here are such elements, and how
	// many of such arrays stand around them with their own.
	explode []explodeStep
	level   int
}

// way is the names that lead to the node.
func (n *jsonNode) way() []string {
	var names []string
	for at := n; at.parent != nil; at = at.parent {
		names = append(names, at.name)
	}
	slices.Reverse(names)
	return names
}

// path is the way to the node as one text that no other way has. Only those of
// nodes below it begin with it.
func (n *jsonNode) path() string {
	var b strings.Builder
	for _, name := range n.way() {
		b.WriteString(strconv.Itoa(len(name)))
		b.WriteByte(':')
		b.WriteString(name)
	}
	return b.String()
}

// flatName is the name of the column here: the names on the way with dots
// between them.
func (n *jsonNode) flatName() string { return strings.Join(n.way(), ".") }

// nameBytes is the length of flatName.
func (n *jsonNode) nameBytes() int {
	length := -1
	for at := n; at.parent != nil; at = at.parent {
		length += len(at.name) + 1
	}
	return length
}

// newChild adds a name to a node.
func (n *jsonNode) newChild(name string) *jsonNode {
	child := &jsonNode{parent: n, name: name, column: -1}
	if quoted := `"` + name + `"`; !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		child.quoted = quoted
		child.head, child.headMask = wordOf(quoted)
		child.tail, child.tailMask = wordOf(quoted[min(8, len(quoted)):])
	}
	if len(n.explode) > 0 && n.explode[0].name == name {
		child.explode = n.explode[1:]
		child.level = n.explode[0].level
	}
	if n.children == nil {
		n.children = make(map[string]*jsonNode)
	}
	n.children[name] = child
	return child
}

// wordOf has up to eight bytes of a text in a word, as they lie in memory, and
// a mask of them.
func wordOf(text string) (word, mask uint64) {
	for i := range min(8, len(text)) {
		word |= uint64(text[i]) << (8 * i)
		mask |= 0xff << (8 * i)
	}
	return word, mask
}
