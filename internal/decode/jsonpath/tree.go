package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
)

// Kind is what a value of a tree is.
type Kind uint8

// The kinds of values. The zero value is none of them.
const (
	Null Kind = iota + 1
	False
	True
	Number
	String
	Array
	Object
)

// Node is a value in a [Tree]. The root is 0.
type Node int32

const none Node = -1

// MaxNodes is how many values a tree can have at the very most, which bounds its memory.
const MaxNodes = 1 << 21

// ErrTooManyNodes is what a tree answers that would get more than [MaxNodes].
var ErrTooManyNodes = errors.New("too many values")

// Tree is a JSON document in memory. A reader of JSON adds the values in the
// order of the document; every text is copied into the tree.
type Tree struct {
	nodes []treeNode
	text  []byte
	open  []Node
	// last is the latest child of each open node.
	last []Node
	// key is the name of the value that comes next.
	key span
	// most is how many values there can be, MaxNodes where it is zero.
	most int
	// names is a scratch space for finding repeated names.
	names map[string]Node
}

type span struct{ start, end uint32 }

type treeNode struct {
	kind        Kind
	key         span   // the name in its object
	text        span   // of a string, without escapes, or a number
	start, end  uint32 // where the value stands in the document
	first, next Node
	count       int32 // how many children it has
}

// Limit makes the number of values that the tree can have lower than [MaxNodes].
func (t *Tree) Limit(most int) { t.most = min(most, MaxNodes) }

// Reset empties the tree and keeps its memory.
func (t *Tree) Reset() {
	t.nodes, t.text, t.open, t.last = t.nodes[:0], t.text[:0], t.open[:0], t.last[:0]
	t.key = span{}
}

// Key names the next value, which is a member of an object.
func (t *Tree) Key(name []byte) { t.key = t.copy(name) }

// Open begins an array or an object at an offset of the document.
func (t *Tree) Open(kind Kind, start int) error {
	node, err := t.add(kind, start)
	if err != nil {
		return err
	}
	t.open, t.last = append(t.open, node), append(t.last, none)
	return nil
}

// Leaf adds a value that has no others inside. The text of a string is
// without quotes and escapes; only strings and numbers need one.
func (t *Tree) Leaf(kind Kind, text []byte, start, end int) error {
	node, err := t.add(kind, start)
	if err != nil {
		return err
	}
	if kind == String || kind == Number {
		t.nodes[node].text = t.copy(text)
	}
	t.nodes[node].end = uint32(end)
	return nil
}

// Close ends what was opened last, before an offset of the document. Where a
// name stands in the object again, only its last value stays.
func (t *Tree) Close(end int) {
	top := len(t.open) - 1
	node := t.open[top]
	t.open, t.last = t.open[:top], t.last[:top]
	t.nodes[node].end = uint32(end)
	if t.nodes[node].kind == Object && t.nodes[node].count > 1 {
		t.dropRepeated(node)
	}
}

// Range is where a value stands in the document.
func (t *Tree) Range(n Node) (start, end int) {
	return int(t.nodes[n].start), int(t.nodes[n].end)
}

// Kind is what the value is.
func (t *Tree) Kind(n Node) Kind { return t.nodes[n].kind }

func (t *Tree) add(kind Kind, start int) (Node, error) {
	if most := cmp.Or(t.most, MaxNodes); len(t.nodes) >= most {
		return 0, fmt.Errorf("%w: the maximum in memory is %d", ErrTooManyNodes, most)
	}
	node := Node(len(t.nodes))
	t.nodes = append(t.nodes, treeNode{kind: kind, key: t.key, start: uint32(start), first: none, next: none})
	t.key = span{}
	if top := len(t.open) - 1; top >= 0 {
		if last := t.last[top]; last == none {
			t.nodes[t.open[top]].first = node
		} else {
			t.nodes[last].next = node
		}
		t.last[top] = node
		t.nodes[t.open[top]].count++
	}
	return node, nil
}

func (t *Tree) copy(text []byte) span {
	start := uint32(len(t.text))
	t.text = append(t.text, text...)
	return span{start, uint32(len(t.text))}
}

func (t *Tree) bytes(s span) []byte { return t.text[s.start:s.end] }

// dropRepeated takes the members out whose name stands again after them.
func (t *Tree) dropRepeated(object Node) {
	if t.names == nil {
		t.names = make(map[string]Node)
	}
	clear(t.names)
	repeated := false
	for child := t.nodes[object].first; child != none; child = t.nodes[child].next {
		name := t.bytes(t.nodes[child].key)
		_, again := t.names[string(name)]
		repeated = repeated || again
		t.names[string(name)] = child
	}
	if !repeated {
		return
	}
	previous := none
	for child := t.nodes[object].first; child != none; child = t.nodes[child].next {
		if t.names[string(t.bytes(t.nodes[child].key))] == child {
			previous = child
			continue
		}
		t.nodes[object].count--
		if previous == none {
			t.nodes[object].first = t.nodes[child].next
		} else {
			t.nodes[previous].next = t.nodes[child].next
		}
	}
}

// element is the value at an index of an array, counted from the end where it
// is negative, or none.
func (t *Tree) element(array Node, index int64) Node {
	if index < 0 {
		index += int64(t.nodes[array].count)
	}
	if index < 0 || index >= int64(t.nodes[array].count) {
		return none
	}
	child := t.nodes[array].first
	for ; index > 0; index-- {
		child = t.nodes[child].next
	}
	return child
}
