package rest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxToken is how long the text of an array or object may be that is a token.
const maxToken = 64 << 10

// maxTree is how long a document may be that a path needs in memory.
const maxTree = 16 << 20

// trees are the documents that may be in memory at the same time.
var trees = share.NewSlots(3, 2, 1<<10)

// value is what a path leads to in a document. The zero value is nothing.
type value struct {
	kind jsontext.Kind
	// raw is the text; of an array or object only up to maxToken bytes.
	raw jsontext.Value
	// empty says of an array or object that nothing is in it.
	empty bool
}

// text is the value of a string, a number or a boolean.
func (v *value) text() (string, bool) {
	return scalar(&strictjson.Value{Kind: v.kind, Raw: v.raw})
}

// isSet reports whether the value tells of something: null, false, the empty
// string, zero and what is empty do not.
func (v *value) isSet() bool {
	switch v.kind {
	case '[', '{':
		return !v.empty
	case '"':
		return len(v.raw) > 2
	case '0':
		return string(v.raw) != "0"
	}
	return v.kind == 't'
}

// find looks for the first value of each path. Paths that can be followed from
// front to back need no memory, and the document is read no further than to
// the last of their values; what follows is not looked at.
func find(ctx context.Context, src io.ReaderAt, size int64, paths ...*jsonpath.Path) ([]value, error) {
	return findIn(ctx, func() document { return openDocument(src, size) }, src, size, paths)
}

// findIn is find in a document that is opened where a path can be followed from front to back.
func findIn(ctx context.Context, open func() document, src io.ReaderAt, size int64, paths []*jsonpath.Path) ([]value, error) {
	f := finder{found: make([]value, len(paths))}
	var ways []way
	for i, path := range paths {
		steps, ok := path.Steps()
		if !ok || slices.ContainsFunc(steps, func(s jsonpath.Step) bool { return s.Filters() }) {
			v, err := findInTree(ctx, src, size, path)
			if err != nil {
				return nil, err
			}
			f.found[i] = v
			continue
		}
		ways = append(ways, way{index: i, steps: steps})
	}
	if len(ways) == 0 {
		return f.found, nil
	}
	f.d = open()
	f.missing = len(ways)
	err := f.walk(ways)
	if errors.Is(err, errAllFound) {
		err = nil
	}
	return f.found, err
}

// openDocument reads a document: in memory where it is short.
func openDocument(src io.ReaderAt, size int64) document {
	const inMemory = 8 << 20
	mark := []byte("\xef\xbb\xbf")
	if size <= inMemory {
		data := make([]byte, size)
		n, _ := src.ReadAt(data, 0)
		return &skimmer{data: bytes.TrimPrefix(data[:n], mark)}
	}
	buffered := bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 256<<10)
	if head, _ := buffered.Peek(len(mark)); bytes.Equal(head, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return stream{jsontext.NewDecoder(buffered, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// finder follows paths while a document is read.
type finder struct {
	d       document
	found   []value
	missing int
}

// way is the rest of a path from where the finder is.
type way struct {
	index int
	steps []jsonpath.Step
}

var errAllFound = errors.New("all found")

// walk reads the next value, to which the ways lead or in which they go on.
func (f *finder) walk(ways []way) error {
	kind := f.d.PeekKind()
	var ends, on []way
	for _, w := range ways {
		switch {
		case f.found[w.index].kind != 0:
		case len(w.steps) == 0:
			ends = append(ends, w)
		default:
			on = append(on, w)
		}
	}
	if len(ends) == 0 && len(on) == 0 || len(ends) == 0 && kind != '{' && kind != '[' {
		return f.d.SkipValue()
	}
	if kind != '{' && kind != '[' {
		raw, err := f.d.ReadValue()
		if err != nil {
			return err
		}
		return f.keepValue(ends, value{kind: kind, raw: bytes.Clone(raw)})
	}
	if len(ends) > 0 {
		return f.takeWhole(kind, ends, on)
	}
	if err := f.d.Bracket(); err != nil {
		return err
	}
	closing := kind + 2 // as in ASCII
	for i := int64(0); f.d.PeekKind() != closing; i++ {
		var name []byte
		if kind == '{' {
			var err error
			if name, err = f.d.Name(); err != nil {
				return err
			}
		}
		var inner []way
		for _, w := range on {
			if kind == '{' && w.steps[0].Member(name) || kind == '[' && w.steps[0].Element(i) {
				inner = append(inner, way{w.index, w.steps[1:]})
			}
		}
		if err := f.walk(inner); err != nil {
			return err
		}
	}
	return f.d.Bracket()
}

// takeWhole takes an array or object to which some ways lead, and goes on in it
// where others do.
func (f *finder) takeWhole(kind jsontext.Kind, ends, on []way) error {
	raw, err := f.d.ReadValue()
	if err != nil {
		return err
	}
	v := value{kind: kind, empty: len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0}
	if len(raw) <= maxToken {
		v.raw = bytes.Clone(raw)
	}
	if err := f.keepValue(ends, v); err != nil || len(on) == 0 {
		return err
	}
	inside := finder{d: &skimmer{data: raw}, found: f.found, missing: f.missing}
	err = inside.walk(on)
	f.missing = inside.missing
	return err
}

func (f *finder) keepValue(ways []way, v value) error {
	for _, w := range ways {
		f.found[w.index] = v
		f.missing--
	}
	if f.missing == 0 {
		return errAllFound
	}
	return nil
}

// findInTree looks for the first value of a path that needs the whole document.
func findInTree(ctx context.Context, src io.ReaderAt, size int64, path *jsonpath.Path) (value, error) {
	if size > maxTree {
		return value{}, fmt.Errorf("the path %s needs the whole document in memory, and it has more than %d bytes", path, maxTree)
	}
	giveBack, err := trees.Take(ctx)
	if err != nil {
		return value{}, err
	}
	defer giveBack()
	data := make([]byte, size)
	if n, err := src.ReadAt(data, 0); n < len(data) {
		return value{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var tree jsonpath.Tree
	tree.Limit(maxTree / 16)
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := fillTree(&tree, d, 0); err != nil {
		return value{}, err
	}
	nodes, err := path.Select(jsonpath.NewWork(ctx, size), &tree)
	if err != nil || len(nodes) == 0 {
		return value{}, err
	}
	start, end := tree.Range(nodes[0])
	raw := jsontext.Value(data[start:end])
	v := value{kind: raw.Kind()}
	if v.kind == '[' || v.kind == '{' {
		v.empty = len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	}
	if len(raw) <= maxToken || !(v.kind == '[' || v.kind == '{') {
		v.raw = bytes.Clone(raw)
	}
	return v, nil
}

// fillTree reads the next value into a tree.
func fillTree(tree *jsonpath.Tree, d *jsontext.Decoder, depth int) error {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		text := []byte(raw)
		if kind == '"' {
			if text, err = jsontext.AppendUnquote(nil, raw); err != nil {
				return err
			}
		}
		return tree.Leaf(leafKind(kind), text, end-len(raw), end)
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("the JSON nests deeper than %d levels", maxTreeDepth)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	container := jsonpath.Array
	if kind == '{' {
		container = jsonpath.Object
	}
	if err := tree.Open(container, int(d.InputOffset())-1); err != nil {
		return err
	}
	for d.PeekKind() != kind+2 {
		if kind == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return err
			}
			tree.Key([]byte(token.String()))
		}
		if err := fillTree(tree, d, depth+1); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	tree.Close(int(d.InputOffset()))
	return err
}

const maxTreeDepth = 1000

func leafKind(kind jsontext.Kind) jsonpath.Kind {
	switch kind {
	case 't':
		return jsonpath.True
	case 'f':
		return jsonpath.False
	case '"':
		return jsonpath.String
	case '0':
		return jsonpath.Number
	}
	return jsonpath.Null
}
