package find

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Lenient is how texts of sources are looked at. What is wrong with them in detail is
// for whoever reads the rows to say.
var Lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// ErrNoJSON reports a text that is not JSON.
var ErrNoJSON = errors.New("it is not valid JSON")

// RawMember is a member of an object, as it is written.
type RawMember struct {
	Name string
	Raw  []byte
}

// MembersOf are the members of an object, none where it is none.
func MembersOf(raw []byte) (members []RawMember, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), Lenient...)
	if _, err := d.ReadToken(); err != nil {
		return nil, ErrNoJSON
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return members, ErrNoJSON
		}
		m := RawMember{Name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return members, ErrNoJSON
		}
		end := d.InputOffset()
		m.Raw = raw[end-int64(len(value)) : end]
		members = append(members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return members, ErrNoJSON
	}
	return members, nil
}

// Lookup is the value of a name, which may lead through objects; nil where there is
// none. Of a name that stands twice it is the last.
func Lookup(members []RawMember, name string) []byte {
	of := func(name string) []byte {
		for _, m := range slices.Backward(members) {
			if m.Name == name {
				return m.Raw
			}
		}
		return nil
	}
	if raw := of(name); raw != nil {
		return raw
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		inner, _ := MembersOf(of(name[:i]))
		if raw := Lookup(inner, name[i+1:]); raw != nil {
			return raw
		}
	}
	return nil
}

// ValueOf is a scalar as a value; of an array or object it has the text alone.
func ValueOf(raw []byte) *strictjson.Value {
	raw = bytes.TrimSpace(raw)
	return &strictjson.Value{Kind: jsontext.Value(raw).Kind(), Raw: raw}
}

// Quote is a text in JSON. What is no UTF-8 in it is replaced.
func Quote(text string) []byte {
	v := strictjson.String(text)
	return v.Raw
}

// OneLine is a text of JSON without line ends between its parts.
func OneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	text := jsontext.Value(bytes.Clone(raw))
	if text.Compact(Lenient...) != nil {
		return raw // and it is refused as what it is
	}
	return text
}

// RecordTree is a record in memory, in which paths are followed.
type RecordTree struct {
	data []byte
	tree jsonpath.Tree
	// Release ends the use of the memory.
	Release func()
}

// longRecord is from how many bytes on a record takes a place among the documents that
// are in memory.
const longRecord = 256 << 10

// ParseTree reads a record. Release it after use.
func ParseTree(ctx context.Context, raw []byte) (*RecordTree, error) {
	if len(raw) > MaxTree {
		return nil, fmt.Errorf("it has more than %d bytes, which is too much to find columns in", MaxTree)
	}
	r := &RecordTree{data: raw, Release: func() {}}
	if len(raw) > longRecord {
		giveBack, err := trees.Take(ctx)
		if err != nil {
			return nil, err
		}
		r.Release = giveBack
	}
	r.tree.Limit(MaxTree / 16)
	if err := fillTree(&r.tree, jsontext.NewDecoder(bytes.NewBuffer(raw), Lenient...), 0); err != nil {
		r.Release()
		return nil, ErrNoJSON
	}
	return r, nil
}

// Find is what a path leads to.
func (r *RecordTree) Find(ctx context.Context, path *jsonpath.Path) ([]jsonpath.Node, error) {
	return path.Select(jsonpath.NewWork(ctx, int64(len(r.data))), &r.tree)
}

// Text is the text of a node.
func (r *RecordTree) Text(n jsonpath.Node) []byte {
	start, end := r.tree.Range(n)
	return r.data[start:end]
}
