package rest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// pairs is an array of a record whose elements are arrays themselves, such as points of a
// time and a value. Each becomes a row, with the other members of the record beside it.
type pairs struct {
	// names lead from the record to the array, and as names the values of an element.
	names, as []string
	// unnamed counts the elements that have more values than names.
	unnamed int64
}

const pairPath = "path must be names, such as values or $.data.points[*]."

// readPairs reads explode where it is an object. It returns the path, too.
func readPairs(f strictjson.Field, o *object) (path string, p *pairs) {
	in := o.inner(f)
	if in == nil {
		return "", nil
	}
	p = new(pairs)
	if path = in.needText("path"); path != "" {
		full := path
		if path[0] != '$' {
			full = "$." + path
		}
		parsed, err := jsonpath.Parse(full)
		if err == nil {
			p.names = namesTo(parsed)
		}
		if p.names == nil {
			in.unreadable("path", pairPath)
		}
	}
	if !in.Has("as") {
		in.unreadable("as", strictjson.Required)
	}
	for _, f := range in.elements("as", maxColumns) {
		switch name, ok := f.Text(); {
		case !ok:
		case name == "" || slices.Contains(p.as, name):
			f.Fault("The names in as must be different and not empty.")
		default:
			p.as = append(p.as, name)
		}
	}
	if len(p.as) == 0 && in.Has("as") {
		in.Fault("as", "as needs at least one name.")
	}
	in.RefuseUnknown()
	return path, p
}

// namesTo are the names of a path that has no others, but may end in [*]; nil for any other.
func namesTo(path *jsonpath.Path) (names []string) {
	steps, ok := path.Steps()
	if !ok {
		return nil
	}
	for i := range steps {
		name, named := steps[i].Name()
		switch {
		case named:
			names = append(names, name)
		case i == 0 || i < len(steps)-1 || !steps[i].All():
			return nil
		}
	}
	return names
}

// each gives fn a record for each element of the array. A record without any is given once,
// without values.
func (p *pairs) each(raw []byte, fn func(raw []byte) error) error {
	rest, found, err := without(raw, p.names)
	if err != nil {
		return err
	}
	members, err := membersOf(rest)
	if err != nil {
		return err
	}
	line := []byte{'{'}
	for _, m := range members {
		if !slices.Contains(p.as, m.name) {
			line = append(appendMember(line, m.name, m.raw), ',')
		}
	}
	elements, err := elementsOf(found)
	if err != nil {
		return err
	}
	switch {
	case found == nil || valueOf(found).Kind == 'n' || valueOf(found).Kind == '[' && len(elements) == 0:
		return fn(p.row(line, nil))
	case valueOf(found).Kind == '[' && !slices.Contains([]jsontext.Kind{'[', '{'}, valueOf(elements[0]).Kind):
		elements = [][]byte{found} // It is a single pair.
	}
	for i, element := range elements {
		values, err := elementsOf(element)
		if err != nil {
			return err
		}
		if kind := valueOf(element).Kind; kind != '[' {
			return fmt.Errorf("element %d of %s is %s, and as needs an array", i+1, strings.Join(p.names, "."), strictjson.KindName(kind))
		}
		if err := fn(p.row(line, values)); err != nil {
			return err
		}
	}
	if elements == nil {
		return fmt.Errorf("%s is %s, and as needs an array", strings.Join(p.names, "."), strictjson.KindName(valueOf(found).Kind))
	}
	return nil
}

// row is a record with the values of one element. Values without a name are numbered.
func (p *pairs) row(line []byte, values [][]byte) []byte {
	line = slices.Clone(line)
	if len(values) > len(p.as) {
		p.unnamed++
	}
	for i := range max(len(values), len(p.as)) {
		name, value := "column_"+strconv.Itoa(i+1), []byte("null")
		if i < len(p.as) {
			name = p.as[i]
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
	members, err := membersOf(raw)
	if err != nil || raw[0] != '{' {
		return raw, nil, err
	}
	rest = append(rest, '{')
	for _, m := range members {
		switch {
		case m.name != names[0]:
		case len(names) == 1:
			found = m.raw
			continue
		default:
			if m.raw, found, err = without(bytes.TrimSpace(m.raw), names[1:]); err != nil {
				return nil, nil, err
			}
		}
		rest = append(appendMember(rest, m.name, m.raw), ',')
	}
	return append(bytes.TrimSuffix(rest, []byte(",")), '}'), found, nil
}

func appendMember(to []byte, name string, raw []byte) []byte {
	return append(append(append(to, quote(name)...), ':'), raw...)
}

// elementsOf are the elements of an array, none where it is none.
func elementsOf(raw []byte) (elements [][]byte, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	if _, err := d.ReadToken(); err != nil {
		return nil, errNoJSON
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, errNoJSON
		}
		end := d.InputOffset()
		elements = append(elements, raw[end-int64(len(value)):end])
	}
	return elements, nil
}
