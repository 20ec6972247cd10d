package json

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// valueName is the column of records that are no objects.
const valueName = "value"

// columnSet is the columns of a table in the order in which they first
// appear in the data. A column is the way to it, name by name: {"a":{"b":1}}
// and {"a.b":1} are two, although both are called a.b.
type columnSet struct {
	mu     sync.Mutex
	byPath map[string]int
	names  []string
}

func newColumnSet() *columnSet {
	return &columnSet{byPath: make(map[string]int)}
}

// lookup is the number of the column at a path, or -1.
func (c *columnSet) lookup(path string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if column, ok := c.byPath[path]; ok {
		return column
	}
	return -1
}

// add gives the column of a node a number, where it has none yet.
func (c *columnSet) add(node *nameNode) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := node.path()
	if column, ok := c.byPath[path]; ok {
		return column
	}
	column := len(c.names)
	c.byPath[path] = column
	c.names = append(c.names, node.flatName())
	return column
}

// addContext gives a value around the records a column, which is not one of the records even where that has the same name.
func (c *columnSet) addContext(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := "context:" + name // a path of names begins with a number
	if column, ok := c.byPath[path]; ok {
		return column
	}
	c.byPath[path] = len(c.names)
	c.names = append(c.names, name)
	return len(c.names) - 1
}

// list is the names of all columns.
func (c *columnSet) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names)
}

// index is the first column of a name, or -1.
func (c *columnSet) index(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Index(c.names, name)
}

func (c *columnSet) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.names)
}

// nameNode is a name in the objects of the records, as one goroutine knows
// them. What followed a name in the last object is expected to follow it in
// the next.
type nameNode struct {
	parent   *nameNode
	name     string
	children map[string]*nameNode
	// column is the number of the column of values here, or -1.
	column int

	// first is the child that came first in the last object, and next the
	// sibling that came after this one.
	first, next *nameNode
	// quoted is the name as it stands in the text where it has no escapes.
	// Its first 16 bytes are compared as two words. A name that needs escapes
	// has words that no text has.
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
func (n *nameNode) way() []string {
	var names []string
	for at := n; at.parent != nil; at = at.parent {
		names = append(names, at.name)
	}
	slices.Reverse(names)
	return names
}

// path is the way to the node as one text that no other way has.
func (n *nameNode) path() string {
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
func (n *nameNode) flatName() string { return strings.Join(n.way(), ".") }

// nameBytes is the length of flatName.
func (n *nameNode) nameBytes() int {
	length := -1
	for at := n; at.parent != nil; at = at.parent {
		length += len(at.name) + 1
	}
	return length
}

// newChild adds a name to a node.
func (n *nameNode) newChild(name string) *nameNode {
	child := &nameNode{parent: n, name: name, column: -1, head: 1}
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
		n.children = make(map[string]*nameNode)
	}
	n.children[name] = child
	return child
}

// isAt reports whether the name is at i of the data, in quotes. The data ends with padding.
func (n *nameNode) isAt(data []byte, i int) bool {
	text := (*[16]byte)(data[i : i+16])
	return binary.LittleEndian.Uint64(text[:8])&n.headMask == n.head &&
		binary.LittleEndian.Uint64(text[8:])&n.tailMask == n.tail &&
		(len(n.quoted) <= len(text) || n.isLongAt(data, i))
}

// isLongAt is isAt for a name of more than 16 bytes.
func (n *nameNode) isLongAt(data []byte, i int) bool {
	return bytes.HasPrefix(data[i:], []byte(n.quoted))
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
