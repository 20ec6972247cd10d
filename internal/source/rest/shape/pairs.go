package shape

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// eachPair gives fn a record for each element of the array. A record without any is given once,
// without values.
func eachPair(p *spec.Pairs, raw []byte, fn func(raw []byte) error) error {
	rest, found, err := without(raw, p.Names)
	if err != nil {
		return err
	}
	members, err := find.MembersOf(rest)
	if err != nil {
		return err
	}
	line := []byte{'{'}
	for _, m := range members {
		if !slices.Contains(p.As, m.Name) {
			line = append(appendMember(line, m.Name, m.Raw), ',')
		}
	}
	elements, err := elementsOf(found)
	if err != nil {
		return err
	}
	switch {
	case found == nil || find.ValueOf(found).Kind == 'n' || find.ValueOf(found).Kind == '[' && len(elements) == 0:
		return fn(pairRow(p, line, nil))
	case find.ValueOf(found).Kind == '[' && !slices.Contains([]jsontext.Kind{'[', '{'}, find.ValueOf(elements[0]).Kind):
		elements = [][]byte{found} // It is a single pair.
	}
	for i, element := range elements {
		values, err := elementsOf(element)
		if err != nil {
			return err
		}
		if kind := find.ValueOf(element).Kind; kind != '[' {
			return fmt.Errorf("element %d of %s is %s, and as needs an array", i+1, strings.Join(p.Names, "."), strictjson.KindName(kind))
		}
		if err := fn(pairRow(p, line, values)); err != nil {
			return err
		}
	}
	if elements == nil {
		return fmt.Errorf("%s is %s, and as needs an array", strings.Join(p.Names, "."), strictjson.KindName(find.ValueOf(found).Kind))
	}
	return nil
}

// pairRow is a record with the values of one element. Values without a name are numbered.
func pairRow(p *spec.Pairs, line []byte, values [][]byte) []byte {
	line = slices.Clone(line)
	if len(values) > len(p.As) {
		p.Unnamed++
	}
	for i := range max(len(values), len(p.As)) {
		name, value := "column_"+strconv.Itoa(i+1), []byte("null")
		if i < len(p.As) {
			name = p.As[i]
		}
		if i < len(values) {
			value = values[i]
		}
		line = append(appendMember(line, name, value), ',')
	}
	return append(bytes.TrimSuffix(line, []byte(",")), '}')
}

// without is an object without the value at some names, and that value, nil where there is
// none.
func without(raw []byte, names []string) (rest, found []byte, err error) {
	members, err := find.MembersOf(raw)
	if err != nil || raw[0] != '{' {
		return raw, nil, err
	}
	rest = append(rest, '{')
	for _, m := range members {
		switch {
		case m.Name != names[0]:
		case len(names) == 1:
			found = m.Raw
			continue
		default:
			if m.Raw, found, err = without(bytes.TrimSpace(m.Raw), names[1:]); err != nil {
				return nil, nil, err
			}
		}
		rest = append(appendMember(rest, m.Name, m.Raw), ',')
	}
	return append(bytes.TrimSuffix(rest, []byte(",")), '}'), found, nil
}

func appendMember(to []byte, name string, raw []byte) []byte {
	return append(append(append(to, find.Quote(name)...), ':'), raw...)
}

// elementsOf are the elements of an array, none where it is none.
func elementsOf(raw []byte) (elements [][]byte, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), find.Lenient...)
	if _, err := d.ReadToken(); err != nil {
		return nil, find.ErrNoJSON
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, find.ErrNoJSON
		}
		end := d.InputOffset()
		elements = append(elements, raw[end-int64(len(value)):end])
	}
	return elements, nil
}
