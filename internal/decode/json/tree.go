package json

import "github.com/feedmill/feedmill/internal/decode/jsonpath"

// tree reads the value at i into a tree and returns where it ends. It stands
// in depth others.
func (t *lexer) tree(tree *jsonpath.Tree, i, depth int) int {
	start := i
	var err error
	switch c := t.data[i]; c {
	case '{', '[':
		return t.treeContainer(tree, i, depth)
	case '"':
		end, escaped := t.quoted(i + 1)
		if end < 0 {
			return -1
		}
		text := t.data[i+1 : end]
		if escaped {
			if text = t.unescape(t.scratch[:0], i+1, end); t.fault != nil {
				return -1
			}
			t.scratch = text
		}
		i = end + 1
		err = tree.Leaf(jsonpath.String, text, start, i)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if i = t.number(i); i < 0 {
			return -1
		}
		err = tree.Leaf(jsonpath.Number, t.data[start:i], start, i)
	default:
		if i = t.word(i); i < 0 {
			return -1
		}
		kind := jsonpath.Null
		switch c {
		case 't':
			kind = jsonpath.True
		case 'f':
			kind = jsonpath.False
		}
		err = tree.Leaf(kind, nil, start, i)
	}
	if err != nil {
		return t.failTree(start)
	}
	return i
}

func (t *lexer) failTree(at int) int {
	return t.fail(at, "the path requires all values in memory, and there are more than %d; "+
		"use a path without .., lists of selectors or negative indexes, and with filters only at its end", jsonpath.MaxNodes)
}

// treeContainer reads an array or object into a tree.
func (t *lexer) treeContainer(tree *jsonpath.Tree, i, depth int) int {
	if depth >= maxDepth {
		return t.fail(i, "arrays and objects are nested more than %d levels deep", maxDepth)
	}
	kind, closing, separators := jsonpath.Array, byte(']'), "a comma or ] after an element"
	if t.data[i] == '{' {
		kind, closing, separators = jsonpath.Object, '}', "a comma or } after a member"
	}
	if tree.Open(kind, i) != nil {
		return t.failTree(i)
	}
	i = t.space(i + 1)
	if t.data[i] == closing {
		tree.Close(i + 1)
		return i + 1
	}
	for {
		if kind == jsonpath.Object {
			if i = t.treeName(tree, i); i < 0 {
				return -1
			}
		}
		if i = t.tree(tree, i, depth+1); i < 0 {
			return -1
		}
		i = t.space(i)
		switch t.data[i] {
		case closing:
			tree.Close(i + 1)
			return i + 1
		case ',':
			i = t.space(i + 1)
		default:
			return t.failExpected(i, separators)
		}
	}
}

// treeName reads the name of a member and its colon.
func (t *lexer) treeName(tree *jsonpath.Tree, i int) int {
	if t.data[i] != '"' {
		return t.failExpected(i, "a name in double quotes")
	}
	end, escaped := t.quoted(i + 1)
	if end < 0 {
		return -1
	}
	name := t.data[i+1 : end]
	if escaped {
		if name = t.unescape(t.scratch[:0], i+1, end); t.fault != nil {
			return -1
		}
		t.scratch = name
	}
	tree.Key(name)
	if i = t.space(end + 1); t.data[i] != ':' {
		return t.failExpected(i, "a colon after the name")
	}
	return t.space(i + 1)
}

// treeBlocks are the blocks of a document that is in memory as a whole.
type treeBlocks struct {
	data  []byte
	tree  *jsonpath.Tree
	nodes []jsonpath.Node
	in    source
	next  int
}

func (b *treeBlocks) load(*block) error { return nil }

func (b *treeBlocks) seek(mark blockMark) { b.next = mark.number }

func (b *treeBlocks) claim(block *block) (bool, error) {
	if b.next == len(b.nodes) {
		return false, nil
	}
	block.mark = blockMark{number: b.next}
	block.data, block.records, block.origins = block.data[:0], block.records[:0], block.origins[:0]
	for b.next < len(b.nodes) && len(block.data) < b.in.blockBytes {
		start, end := b.tree.Range(b.nodes[b.next])
		block.add(b.data[start:end], b.in.start+int64(start))
		b.next++
	}
	block.seal()
	return true, nil
}
