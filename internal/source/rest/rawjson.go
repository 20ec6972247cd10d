package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// lenient is how texts of sources are looked at. What is wrong with them in detail is
// for whoever reads the rows to say.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

var errNoJSON = errors.New("it is not valid JSON")

// rawMember is a member of an object, as it is written.
type rawMember struct {
	name string
	raw  []byte
}

// membersOf are the members of an object, none where it is none.
func membersOf(raw []byte) (members []rawMember, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	if _, err := d.ReadToken(); err != nil {
		return nil, errNoJSON
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return members, errNoJSON
		}
		m := rawMember{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return members, errNoJSON
		}
		end := d.InputOffset()
		m.raw = raw[end-int64(len(value)) : end]
		members = append(members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return members, errNoJSON
	}
	return members, nil
}

// lookup is the value of a name, which may lead through objects; nil where there is
// none. Of a name that stands twice it is the last.
func lookup(members []rawMember, name string) []byte {
	of := func(name string) []byte {
		for _, m := range slices.Backward(members) {
			if m.name == name {
				return m.raw
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
		inner, _ := membersOf(of(name[:i]))
		if raw := lookup(inner, name[i+1:]); raw != nil {
			return raw
		}
	}
	return nil
}

// valueOf is a scalar as a value; of an array or object it has the text alone.
func valueOf(raw []byte) *strictjson.Value {
	raw = bytes.TrimSpace(raw)
	return &strictjson.Value{Kind: jsontext.Value(raw).Kind(), Raw: raw}
}

// quote is a text in JSON. What is no UTF-8 in it is replaced.
func quote(text string) []byte {
	v := strictjson.String(text)
	return v.Raw
}

// oneLine is a text of JSON without line ends between its parts.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	text := jsontext.Value(bytes.Clone(raw))
	if text.Compact(lenient...) != nil {
		return raw // and it is refused as what it is
	}
	return text
}

// recordTree is a record in memory, in which paths are followed.
type recordTree struct {
	data []byte
	tree jsonpath.Tree
	// giveBack ends the use of the memory.
	giveBack func()
}

// longRecord is from how many bytes on a record takes a place among the documents that
// are in memory.
const longRecord = 256 << 10

func parseTree(ctx context.Context, raw []byte) (*recordTree, error) {
	if len(raw) > maxTree {
		return nil, fmt.Errorf("it has more than %d bytes, which is too much to find columns in", maxTree)
	}
	r := &recordTree{data: raw, giveBack: func() {}}
	if len(raw) > longRecord {
		giveBack, err := trees.Take(ctx)
		if err != nil {
			return nil, err
		}
		r.giveBack = giveBack
	}
	r.tree.Limit(maxTree / 16)
	if err := fillTree(&r.tree, jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...), 0); err != nil {
		r.giveBack()
		return nil, errNoJSON
	}
	return r, nil
}

// find is what a path leads to.
func (r *recordTree) find(ctx context.Context, path *jsonpath.Path) ([]jsonpath.Node, error) {
	return path.Select(jsonpath.NewWork(ctx, int64(len(r.data))), &r.tree)
}

// text is the text of a node.
func (r *recordTree) text(n jsonpath.Node) []byte {
	start, end := r.tree.Range(n)
	return r.data[start:end]
}

// asScalar is a value that is one cell: objects and arrays are their text.
func asScalar(raw []byte) []byte {
	if _, ok := scalar(valueOf(raw)); ok {
		return raw
	}
	return quote(string(oneLine(raw)))
}

// typed is a value as one of a type. What does not fit is an error: nothing is
// rounded or left out.
func typed(raw []byte, as string) ([]byte, error) {
	v := valueOf(raw)
	text, isScalar := scalar(v)
	number := func() bool {
		_, err := strconv.ParseFloat(text, 64)
		return err == nil && jsontext.Value(text).IsValid() && jsontext.Value(text).Kind() == '0'
	}
	switch {
	case as == "" || v.Kind == 'n' || as == "json":
		return raw, nil
	case as == "text":
		if !isScalar {
			text = string(oneLine(raw))
		}
		return quote(text), nil
	case !isScalar:
		return nil, fmt.Errorf("is %s, not a %s", strictjson.KindName(v.Kind), as)
	case as == "boolean" && (text == "true" || text == "false"):
		return []byte(text), nil
	case as == "integer" && isNumber(text) && !strings.Contains(text, ".") && number(),
		(as == "decimal" || as == "number") && number():
		return []byte(text), nil
	case as == "date" || as == "timestamp":
		if v := parseCursor(text); v.class == cursorTime {
			switch {
			case v.layout == netDate && as == "date" && v.time.Equal(v.time.Truncate(day)):
				text = v.time.Format(time.DateOnly)
			case v.layout == netDate:
				text = v.time.Format("2006-01-02T15:04:05.999Z07:00")
			}
			return quote(text), nil
		}
	}
	return nil, fmt.Errorf("has the value %q, which is not a %s", shorten(text), as)
}
