package expression

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
)

// contentText is the content type of a body that is a string.
const contentText = "text/plain; charset=utf-8"

var errLargeOutput = fmt.Errorf("the output has more than %d bytes", feedmill.MaxTransformedBytes)

// render makes the body from the result of a transformation. The same result always gives
// the same bytes: the keys of maps are sorted, because CEL maps have no order.
func render(out ref.Val) (feedmill.Body, error) {
	if s, ok := out.(types.String); ok {
		return textBody(string(s))
	}
	switch out.(type) {
	case traits.Mapper, traits.Lister:
	default:
		return feedmill.Body{}, fmt.Errorf("transform must return a map, a list or a string; it returned %s", out.Type().TypeName())
	}
	b, err := appendValue(nil, out, 0)
	if err != nil {
		return feedmill.Body{}, err
	}
	return jsonBody(b)
}

// textBody is a body of plain text.
func textBody(s string) (feedmill.Body, error) {
	if len(s) > feedmill.MaxTransformedBytes {
		return feedmill.Body{}, errLargeOutput
	}
	return feedmill.Body{Bytes: []byte(s), ContentType: contentText}, nil
}

// jsonBody is a body of JSON, in the form that JavaScript's parse and stringify leave alone.
func jsonBody(b []byte) (feedmill.Body, error) {
	fixed, err := jstext.Append(nil, b)
	if err != nil {
		return feedmill.Body{}, err
	}
	if len(fixed) > feedmill.MaxTransformedBytes {
		return feedmill.Body{}, errLargeOutput
	}
	return feedmill.Body{Bytes: fixed, ContentType: feedmill.ContentJSON}, nil
}

// maxOutputDepth bounds the nesting of the output.
const maxOutputDepth = 200

// appendValue appends a value as JSON.
func appendValue(b []byte, v ref.Val, depth int) ([]byte, error) {
	if len(b) > feedmill.MaxTransformedBytes {
		return nil, errLargeOutput
	}
	if depth > maxOutputDepth {
		return nil, fmt.Errorf("the output is nested more than %d levels deep", maxOutputDepth)
	}
	switch v := v.(type) {
	case types.Null:
		return append(b, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(b, bool(v)), nil
	case types.Int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case types.Uint:
		return strconv.AppendUint(b, uint64(v), 10), nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, errors.New("the output has a number that JSON cannot represent")
		}
		return strconv.AppendFloat(b, float64(v), 'g', -1, 64), nil
	case types.String:
		if len(v) > feedmill.MaxTransformedBytes {
			return nil, errLargeOutput
		}
		return jstext.AppendString(b, string(v)), nil
	case types.Timestamp:
		return jstext.AppendString(b, v.UTC().Format(feedmill.TimestampFormat)), nil
	case types.Duration:
		return jstext.AppendString(b, time.Duration(v.Duration).String()), nil
	case *types.Optional:
		if !v.HasValue() {
			return append(b, "null"...), nil
		}
		return appendValue(b, v.GetValue(), depth)
	case traits.Mapper:
		return appendMap(b, v, depth)
	case traits.Lister:
		return appendList(b, v, depth)
	}
	if types.IsError(v) {
		return nil, errors.New(firstLine(v.(*types.Err).Error()))
	}
	return nil, fmt.Errorf("the output has a value of type %s, which JSON cannot represent", v.Type().TypeName())
}

func appendList(b []byte, list traits.Lister, depth int) (_ []byte, err error) {
	b = append(b, '[')
	first := true
	for i := list.Iterator(); i.HasNext() == types.True; first = false {
		if !first {
			b = append(b, ',')
		}
		if b, err = appendValue(b, i.Next(), depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, m traits.Mapper, depth int) (_ []byte, err error) {
	type entry struct {
		name  string
		value ref.Val
	}
	var entries []entry
	for i := m.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("the output has a map with a key of type %s; keys must be strings", key.Type().TypeName())
		}
		if len(entries)*4 > feedmill.MaxTransformedBytes {
			return nil, errLargeOutput
		}
		entries = append(entries, entry{string(name), m.Get(key)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	b = append(b, '{')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jstext.AppendString(b, e.name), ':')
		if b, err = appendValue(b, e.value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
