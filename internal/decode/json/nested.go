package json

import (
	"bytes"
	"slices"
)

// nestedReader reads arrays and objects that stay JSON in a cell. They are
// checked as strictly as everything else and then made compact where they
// stand: without blanks between tokens, without members whose name stands
// in the same object again, with members in the order of their names, and with numbers and strings
// that are not longer than they have to be.
type nestedReader struct {
	lexer
	open []nestedFrame
	keys []nestedKey
	// dropped are ranges of the text that are left out.
	dropped []textRange
	names   map[string]int
	// duplicates counts the members that were left out.
	duplicates int64
	// sorts says that members are to be in the order of their names, and unsorted that some of the value are not.
	sorts, unsorted bool
	sorter          keySorter
	// grown are the texts of cells that are longer than in the data. Their cells have ranges that begin behind it.
	grown     []byte
	maxRecord int // how long those of a record can be
}

type textRange struct{ start, end int }

type nestedFrame struct {
	object bool
	keys   int // how many keys there were before it
}

type nestedKey struct {
	textRange // without the quotes
	escaped   bool
}

// nested reads the array or object at i, which stands in depth others, and
// returns its compact text and where the text goes on.
func (n *nestedReader) nested(i, depth int) (text textRange, next int) {
	n.spaces, n.unsorted, n.longer, n.dropped = false, false, false, n.dropped[:0]
	next = n.check(i, depth)
	if next < 0 {
		return text, -1
	}
	if next-i > n.maxField {
		return text, n.tooLong(i)
	}
	text = textRange{i, next}
	if n.spaces || len(n.dropped) > 0 {
		text.end = n.compact(i, next)
	}
	if !n.unsorted && !(n.longer && n.sorts) {
		return text, next
	}
	sorted := n.sorter.sort(&n.lexer, i, n.maxField)
	switch {
	case len(sorted) > n.maxField:
		return text, n.fail(i, "the array or object is longer than %d bytes, the maximum for a cell, when its numbers are written without exponents", n.maxField)
	case len(n.grown)+len(sorted) > maxGrown+n.maxRecord:
		return text, n.fail(i, "the arrays and objects of the record are longer than %d bytes, the maximum, when their numbers are written without exponents", n.maxRecord)
	case len(sorted) > next-i:
		text.start = n.size + len(n.grown)
		n.grown = append(n.grown, sorted...)
	default:
		copy(n.data[i:next], sorted)
	}
	text.end = text.start + len(sorted)
	return text, next
}

// tooLong fails because of the array or object at i.
func (n *nestedReader) tooLong(i int) int {
	return n.fail(i, "the array or object is longer than %d bytes, the maximum for a cell", n.maxField)
}

// check reads the value at i and returns where it ends.
func (n *nestedReader) check(i, depth int) int {
	n.open, n.keys = n.open[:0], n.keys[:0]
	data := n.data
	start := i
	for {
		if i-start > n.maxField {
			return n.tooLong(start)
		}
		// A value begins here.
		opened := false
		switch c := data[i]; c {
		case '"':
			end, escaped := n.quoted(i + 1)
			if end < 0 || escaped && !n.checkEscapes(i+1, end) {
				return -1
			}
			n.longer = n.longer || escaped && n.needlessEscapes(i+1, end)
			i = end + 1
		case '{', '[':
			if depth+len(n.open) >= maxDepth {
				return n.fail(i, "arrays and objects are nested more than %d levels deep", maxDepth)
			}
			n.open = append(n.open, nestedFrame{object: c == '{', keys: len(n.keys)})
			i = n.space(i + 1)
			opened = true
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i = n.number(i)
		default:
			i = n.word(i)
		}
		if i < 0 {
			return -1
		}
		if i, opened = n.after(i, opened); i < 0 || !opened {
			return i
		}
	}
}

// after reads what stands between two values: commas, closing brackets and
// names. It returns where the next value begins, or where the whole ends.
func (n *nestedReader) after(i int, opened bool) (next int, more bool) {
	data := n.data
	for {
		top := len(n.open) - 1
		if top < 0 {
			return i, false
		}
		frame := n.open[top]
		i = n.space(i)
		c := data[i]
		switch {
		case frame.object && c == '}' || !frame.object && c == ']':
			if frame.object {
				n.close(frame)
			}
			n.open = n.open[:top]
			i++
			opened = false
			continue
		case opened:
		case c == ',':
			i = n.space(i + 1)
		case frame.object:
			return n.failExpected(i, "a comma or } after a member"), false
		default:
			return n.failExpected(i, "a comma or ] after an element"), false
		}
		if frame.object {
			i = n.key(i)
		}
		return i, i >= 0
	}
}

// key reads a name and its colon.
func (n *nestedReader) key(i int) int {
	if n.data[i] != '"' {
		return n.failExpected(i, "a name in double quotes")
	}
	end, escaped := n.quoted(i + 1)
	if end < 0 || escaped && !n.checkEscapes(i+1, end) {
		return -1
	}
	if len(n.keys) == maxNestedKeys {
		return n.fail(i, "the nested objects have more than %d keys, the maximum for a cell", maxNestedKeys)
	}
	n.longer = n.longer || escaped && n.needlessEscapes(i+1, end)
	n.keys = append(n.keys, nestedKey{textRange{i + 1, end}, escaped})
	i = n.space(end + 1)
	if n.data[i] != ':' {
		return n.failExpected(i, "a colon after the name")
	}
	return n.space(i + 1)
}

const (
	// fewKeys is how many keys are compared with each other; more are put in
	// a map.
	fewKeys = 8
	// manyKeys is how many make a map that is not kept.
	manyKeys = 1 << 12
)

// close looks for names that are repeated in the object that ends.
func (n *nestedReader) close(frame nestedFrame) {
	keys := n.keys[frame.keys:]
	n.keys = n.keys[:frame.keys]
	if n.sorts && !n.unsorted {
		for i := 1; i < len(keys); i++ {
			if bytes.Compare(n.data[keys[i-1].start:keys[i-1].end], n.data[keys[i].start:keys[i].end]) > 0 || keys[i].escaped {
				n.unsorted = true
				break
			}
		}
	}
	plain := !slices.ContainsFunc(keys, func(k nestedKey) bool { return k.escaped })
	if plain && len(keys) <= fewKeys {
		for i := 1; i < len(keys); i++ {
			// Only the latest of the same name is looked for: those before it
			// were dropped for its sake.
			for j := i - 1; j >= 0; j-- {
				if bytes.Equal(n.data[keys[j].start:keys[j].end], n.data[keys[i].start:keys[i].end]) {
					n.drop(keys, j)
					break
				}
			}
		}
		return
	}
	if n.names == nil || len(n.names) > manyKeys {
		n.names = make(map[string]int)
	}
	clear(n.names)
	for i, key := range keys {
		name := n.data[key.start:key.end]
		if key.escaped {
			n.scratch = n.unescape(n.scratch[:0], key.start, key.end)
			name = n.scratch
		}
		if j, again := n.names[string(name)]; again {
			n.drop(keys, j)
		}
		n.names[string(name)] = i
	}
}

// drop leaves out a member that another one follows, which is from its key to
// the next.
func (n *nestedReader) drop(keys []nestedKey, i int) {
	n.duplicates++
	n.dropped = append(n.dropped, textRange{keys[i].start - 1, keys[i+1].start - 1})
}

// compact takes blanks and dropped members out of text that is right, and
// returns where it then ends.
func (n *nestedReader) compact(start, end int) int {
	slices.SortFunc(n.dropped, func(a, b textRange) int { return a.start - b.start })
	data, dropped, to := n.data, n.dropped, start
	for i := start; i < end; {
		for len(dropped) > 0 && dropped[0].start < i {
			dropped = dropped[1:]
		}
		if len(dropped) > 0 && dropped[0].start == i {
			i = dropped[0].end
			continue
		}
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			after, _ := n.quoted(i + 1)
			to += copy(data[to:], data[i:after+1])
			i = after + 1
		default:
			data[to] = c
			to++
			i++
		}
	}
	return to
}
