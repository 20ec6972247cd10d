package json

import (
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// explodeStep is a name on the way to the array that is exploded. Where level
// is not 0, the elements of an array here become rows, and it counts how many
// such arrays there are on the way up to here.
type explodeStep struct {
	name  string
	level int
}

// parseExplode reads the path below the record whose array elements become
// rows: names, and [*] where an array on the way is taken apart as well. The [*] of the
// last array may be left out, and so may the $. before the first name.
func parseExplode(text string) ([]explodeStep, error) {
	full := text
	if text == "" || text[0] != '$' {
		full = "$." + text
	}
	path, err := jsonpath.Parse(full)
	if err != nil {
		return nil, invalidParameter("explode", "%v", err)
	}
	const want = "explode must consist of names and [*], such as $.lines[*] or $.orders[*].lines[*]"
	steps, ok := path.Steps()
	if !ok {
		return nil, invalidParameter("explode", want)
	}
	var explode []explodeStep
	level := 0
	for _, step := range steps {
		name, named := step.Name()
		last := len(explode) - 1
		switch {
		case named:
			explode = append(explode, explodeStep{name: name})
		case step.All() && last >= 0 && explode[last].level == 0:
			level++
			explode[last].level = level
		default:
			return nil, invalidParameter("explode", want)
		}
	}
	last := len(explode) - 1
	if last < 0 {
		return nil, invalidParameter("explode", want)
	}
	if explode[last].level == 0 {
		explode[last].level = level + 1
	}
	return explode, nil
}

// explodedName is the name of the column that the elements become, or what those begin with.
func explodedName(steps []explodeStep) string {
	var names []string
	for _, step := range steps {
		names = append(names, step.name)
	}
	return strings.Join(names, ".")
}

// failExploded refuses a record with too many values.
func (r *recordReader) failExploded(i int) int {
	return r.fail(i, "the record has more than %d values, the maximum for explode; set path to read them as records", input.MaxExploded)
}

// clearExploded takes back what the current element of the explosion has of a name.
func (r *recordReader) clearExploded(node *nameNode) {
	switch {
	case node.level == r.explosion.Level()+1:
		r.explosion.Forget()
	case node.column >= 0:
		r.explosion.Replace(node.column, 0)
	}
}

// elements reads the value of a name whose array elements become rows. A value
// that is no array counts as an array of it, and null as one of nothing.
func (r *recordReader) elements(node *nameNode, i, depth int) int {
	switch r.data[i] {
	case 'n':
		return r.word(i)
	case '[':
	default:
		return r.element(node, i, depth)
	}
	if depth >= maxDepth {
		return r.fail(i, "arrays and objects are nested more than %d levels deep", maxDepth)
	}
	if i = r.space(i + 1); r.data[i] == ']' {
		return i + 1
	}
	for {
		if i = r.element(node, i, depth+1); i < 0 {
			return -1
		}
		i = r.space(i)
		switch r.data[i] {
		case ']':
			return i + 1
		case ',':
			i = r.space(i + 1)
		default:
			return r.failExpected(i, "a comma or ] after an element")
		}
	}
}

// element reads one element that becomes a row, or several.
func (r *recordReader) element(node *nameNode, i, depth int) int {
	around, ok := r.explosion.Enter(node.level)
	if !ok {
		return r.failExploded(i)
	}
	stamp := r.stamp
	r.lastStamp++
	r.stamp = r.lastStamp
	if i = r.plainValue(node, i, depth); i < 0 {
		return -1
	}
	r.explosion.Leave(around)
	r.stamp = stamp
	return i
}

// explodedRows makes the rows of the record.
func (r *recordReader) explodedRows() bool {
	return r.explosion.Rows(r.columns, func(row []columnar.Cell) bool {
		if !r.openRow() {
			return false
		}
		copy(r.row, row)
		r.cells.Rows++
		return true
	})
}
