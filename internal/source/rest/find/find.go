package find

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// MaxToken is how long the text of an array or object may be that is a token.
const MaxToken = 64 << 10

// MaxTree is how long a document may be that a path needs in memory.
const MaxTree = 16 << 20

// trees are the documents that may be in memory at the same time.
var trees = share.NewSlots(3, 2, 1<<10)

// Value is what a path leads to in a document. The zero value is nothing.
type Value struct {
	Kind jsontext.Kind
	// Raw is the text; of an array or object only up to MaxToken bytes.
	Raw jsontext.Value
	// Empty says of an array or object that nothing is in it.
	Empty bool
}

// Text is the value of a string, a number or a boolean.
func (v *Value) Text() (string, bool) {
	return Scalar(&strictjson.Value{Kind: v.Kind, Raw: v.Raw})
}

// IsSet reports whether the value tells of something: null, false, the empty
// string, zero and what is empty do not.
func (v *Value) IsSet() bool {
	switch v.Kind {
	case '[', '{':
		return !v.Empty
	case '"':
		return len(v.Raw) > 2
	case '0':
		return string(v.Raw) != "0"
	}
	return v.Kind == 't'
}

// Values looks for the first value of each path. Paths that can be followed from
// front to back need no memory, and the document is read no further than to
// the last of their values; what follows is not looked at.
func Values(ctx context.Context, src io.ReaderAt, size int64, paths ...*jsonpath.Path) ([]Value, error) {
	return ValuesIn(ctx, func() Document { return OpenDocument(src, size) }, src, size, paths)
}

// ValuesIn is [Values] in a document that is opened where a path can be followed from front to back.
func ValuesIn(ctx context.Context, open func() Document, src io.ReaderAt, size int64, paths []*jsonpath.Path) ([]Value, error) {
	f := finder{found: make([]Value, len(paths))}
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

// OpenDocument reads a document: in memory where it is short.
func OpenDocument(src io.ReaderAt, size int64) Document {
	const inMemory = 8 << 20
	mark := []byte("\xef\xbb\xbf")
	if size <= inMemory {
		data := make([]byte, size)
		n, _ := src.ReadAt(data, 0)
		return &Skimmer{Data: bytes.TrimPrefix(data[:n], mark)}
	}
	buffered := bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 256<<10)
	if head, _ := buffered.Peek(len(mark)); bytes.Equal(head, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return stream{jsontext.NewDecoder(buffered, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// finder follows paths while a document is read.
type finder struct {
	d       Document
	found   []Value
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
	scalar := kind != '{' && kind != '['
	ends, on := f.divide(ways)
	switch {
	case len(ends) == 0 && (scalar || len(on) == 0):
		return f.d.SkipValue()
	case scalar:
		raw, err := f.d.ReadValue()
		if err != nil {
			return err
		}
		return f.keepValue(ends, Value{Kind: kind, Raw: bytes.Clone(raw)})
	case len(ends) > 0:
		return f.takeWhole(kind, ends, on)
	}
	return f.walkInside(kind, on)
}

// divide returns the ways that end here and those that go on, without the ones whose value
// was found before.
func (f *finder) divide(ways []way) (ends, on []way) {
	for _, w := range ways {
		switch {
		case f.found[w.index].Kind != 0:
		case len(w.steps) == 0:
			ends = append(ends, w)
		default:
			on = append(on, w)
		}
	}
	return ends, on
}

// walkInside reads an array or object in which ways go on.
func (f *finder) walkInside(kind jsontext.Kind, on []way) error {
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
	v := Value{Kind: kind, Empty: len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0}
	if len(raw) <= MaxToken {
		v.Raw = bytes.Clone(raw)
	}
	if err := f.keepValue(ends, v); err != nil || len(on) == 0 {
		return err
	}
	inside := finder{d: &Skimmer{Data: raw}, found: f.found, missing: f.missing}
	err = inside.walk(on)
	f.missing = inside.missing
	return err
}

func (f *finder) keepValue(ways []way, v Value) error {
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
func findInTree(ctx context.Context, src io.ReaderAt, size int64, path *jsonpath.Path) (Value, error) {
	if size > MaxTree {
		return Value{}, fmt.Errorf("the path %s needs the whole document in memory, and it has more than %d bytes", path, MaxTree)
	}
	giveBack, err := trees.Take(ctx)
	if err != nil {
		return Value{}, err
	}
	defer giveBack()
	data := make([]byte, size)
	if n, err := src.ReadAt(data, 0); n < len(data) {
		return Value{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var tree jsonpath.Tree
	tree.Limit(MaxTree / 16)
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := fillTree(&tree, d, 0); err != nil {
		return Value{}, err
	}
	nodes, err := path.Select(jsonpath.NewWork(ctx, size), &tree)
	if err != nil || len(nodes) == 0 {
		return Value{}, err
	}
	start, end := tree.Range(nodes[0])
	raw := jsontext.Value(data[start:end])
	v := Value{Kind: raw.Kind()}
	if v.Kind == '[' || v.Kind == '{' {
		v.Empty = len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	}
	if len(raw) <= MaxToken || !(v.Kind == '[' || v.Kind == '{') {
		v.Raw = bytes.Clone(raw)
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

// Scalar is the text of a string, a number or a boolean.
func Scalar(n *strictjson.Value) (string, bool) {
	switch n.Kind {
	case '"':
		return n.Text(), true
	case '0', 't', 'f':
		return string(n.Raw), true
	}
	return "", false
}

// Affirmative is whether a value means yes: something is there, and it is not the word
// no in a form that sources write.
func (v *Value) Affirmative() bool {
	text, _ := v.Text()
	switch strings.ToLower(text) {
	case "false", "0", "no", "n":
		return false
	}
	return v.IsSet()
}

// Number is the value as a count.
func (v *Value) Number() (int64, bool) {
	text, ok := v.Text()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return int64(n), err == nil && n >= 0 && n < 1<<53
}

// MustPath parses a path that is part of the program.
func MustPath(text string) *jsonpath.Path {
	path, err := jsonpath.Parse(text)
	if err != nil {
		panic(err)
	}
	return path
}
