package spec

import (
	"slices"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Pairs is an array of a record whose elements are arrays themselves, such as points of a
// time and a value. Each becomes a row, with the other members of the record beside it.
type Pairs struct {
	// Names lead from the record to the array, and As Names the values of an element.
	Names, As []string
	// Unnamed counts the elements that have more values than names.
	Unnamed int64
}

const pairPath = "path must be names, such as values or $.data.points[*]."

// readPairs reads explode where it is an object. It returns the path, too.
func readPairs(f strictjson.Field, o *object) (path string, p *Pairs) {
	in := o.inner(f)
	if in == nil {
		return "", nil
	}
	p = new(Pairs)
	if path = in.needText("path"); path != "" {
		full := path
		if path[0] != '$' {
			full = "$." + path
		}
		parsed, err := jsonpath.Parse(full)
		if err == nil {
			p.Names = namesTo(parsed)
		}
		if p.Names == nil {
			in.unreadable("path", pairPath)
		}
	}
	if !in.Has("as") {
		in.unreadable("as", strictjson.Required)
	}
	for _, f := range in.elements("as", maxColumns) {
		switch name, ok := f.Text(); {
		case !ok:
		case name == "" || slices.Contains(p.As, name):
			f.Fault("The names in as must be different and not empty.")
		default:
			p.As = append(p.As, name)
		}
	}
	if len(p.As) == 0 && in.Has("as") {
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
