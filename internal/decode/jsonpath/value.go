package jsonpath

import (
	"bytes"
	"strconv"
)

// value is what a filter compares. The zero value is nothing at all.
type value struct {
	kind Kind
	text []byte // of a string or a number
	node Node   // of an array or an object
}

// value makes a literal an operand.
func (v value) value(*evaluation, Node) (value, error) { return v, nil }

func numberValue(n int) value {
	return value{kind: Number, text: strconv.AppendInt(nil, int64(n), 10)}
}

func (t *Tree) value(n Node) value {
	return value{kind: t.nodes[n].kind, text: t.bytes(t.nodes[n].text), node: n}
}

func (e *evaluation) equal(a, b value) (bool, error) {
	if err := e.spend(1); err != nil {
		return false, err
	}
	if a.kind != b.kind {
		return false, nil
	}
	switch a.kind {
	case Number:
		order, err := e.compareNumbers(a, b)
		return order == 0, err
	case String:
		if len(a.text) != len(b.text) {
			return false, nil
		}
		if err := e.spendText(len(a.text)); err != nil {
			return false, err
		}
		return bytes.Equal(a.text, b.text), nil
	case Array:
		return e.equalArrays(a.node, b.node)
	case Object:
		return e.equalObjects(a.node, b.node)
	}
	return true, nil
}

func (e *evaluation) equalArrays(a, b Node) (bool, error) {
	nodes := e.tree.nodes
	if nodes[a].count != nodes[b].count {
		return false, nil
	}
	a, b = nodes[a].first, nodes[b].first
	for ; a != none; a, b = nodes[a].next, nodes[b].next {
		if same, err := e.equal(e.tree.value(a), e.tree.value(b)); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (e *evaluation) equalObjects(a, b Node) (bool, error) {
	nodes := e.tree.nodes
	if nodes[a].count != nodes[b].count {
		return false, nil
	}
	for child := nodes[a].first; child != none; child = nodes[child].next {
		other, err := e.member(b, string(e.tree.bytes(nodes[child].key)))
		if other == none || err != nil {
			return false, err
		}
		if same, err := e.equal(e.tree.value(child), e.tree.value(other)); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// less orders numbers, and strings by their characters; nothing else has an order.
func (e *evaluation) less(a, b value) (bool, error) {
	switch {
	case a.kind == Number && b.kind == Number:
		order, err := e.compareNumbers(a, b)
		return order < 0, err
	case a.kind == String && b.kind == String:
		if err := e.spendText(min(len(a.text), len(b.text))); err != nil {
			return false, err
		}
		return bytes.Compare(a.text, b.text) < 0, nil
	}
	return false, nil
}

// compareNumbers compares two numbers, whose digits are copied for it.
func (e *evaluation) compareNumbers(a, b value) (int, error) {
	if err := e.spend(1 + (len(a.text)+len(b.text))/2); err != nil {
		return 0, err
	}
	return compareNumbers(a.text, b.text), nil
}
