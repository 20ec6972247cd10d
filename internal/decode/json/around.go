package json

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// lookAround finds the values around the records, where they become columns or a warning names them. The document is the data as
// it came.
func (j *Table) lookAround(ctx context.Context, document source) error {
	if j.context.Off() || j.lines || j.nothing {
		return nil
	}
	if j.tree {
		if !j.context.Columns {
			return nil
		}
		return invalidParameter("context", "context=true requires a path without .., lists of selectors, or negative indexes, and with filters only at its end; the path is %s", j.path)
	}
	container := wayOf(j.taken())
	if len(container) == 0 {
		return nil // the records are the root, or all of it
	}
	s := &surroundings{walker: newWalker(document), container: container, records: j.span}
	s.interrupted = ctx.Err
	if !s.walk() {
		if s.err != nil {
			return s.err
		}
		return nil // what is wrong with the document is said when the records are read
	}
	j.around = s.ContextValues
	return nil
}

// wayOf are the names that steps begin with.
func wayOf(steps []jsonpath.Step) (way []string) {
	for i := range steps {
		name, named := steps[i].Name()
		if !named {
			break
		}
		way = append(way, name)
	}
	return way
}

// surroundings are the values of a document around its records: texts, numbers and words that are in objects alone.
type surroundings struct {
	*walker
	// container are the names that lead to the records, and records is where they are, where that is known.
	container []string
	records   textSpan
	way       []string
	input.ContextValues
}

// textSpan is a part of a document, empty where it is not known.
type textSpan struct{ start, end int64 }

// walk goes through the document, and reports false where it has a fault.
func (s *surroundings) walk() bool {
	for {
		switch s.next() {
		case walkEnd:
			return true
		case walkClose:
			s.way = s.way[:max(len(s.way)-1, 0)]
		case walkValue:
			if len(s.frames) == 0 {
				if s.data[s.i] != '{' || !s.enter() {
					return true
				}
				continue
			}
			if !s.visit() {
				return false
			}
		default:
			return false
		}
	}
}

// visit deals with the member that comes.
func (s *surroundings) visit() bool {
	way := append(s.way, string(s.name))
	switch {
	case slices.Equal(way, s.container):
		if s.records.end > s.base+int64(s.i) {
			s.base, s.size, s.i = s.records.end, 0, 0
			clear(s.data[:textPadding])
			return true
		}
		_, ok := s.skip(0)
		return ok
	case s.data[s.i] == '{':
		s.way = way
		return s.enter()
	case s.data[s.i] == '[':
		_, ok := s.skip(0)
		return ok
	}
	at := s.base + int64(s.i)
	if !s.scalar() {
		return false
	}
	kind, text := Cell(s.data[at-s.base : s.i])
	s.Add(strings.Join(way, "."), kind, text)
	return true
}

// Cell returns the kind of the cell for a JSON value, and its text.
func Cell(raw []byte) (columnar.CellKind, []byte) {
	switch jsontext.Value(raw).Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return columnar.CellJSON, raw
		}
		return columnar.CellString, text
	case '0':
		return columnar.CellNumber, raw
	case 't':
		return columnar.CellTrue, nil
	case 'f':
		return columnar.CellFalse, nil
	case 'n':
		return columnar.CellNull, nil
	}
	return columnar.CellJSON, raw
}

// addContext gives the values around the records their columns.
func (j *Table) addContext() error {
	if !j.context.Columns {
		return nil
	}
	j.contextAt = nil
	for _, v := range j.around.Values {
		column := j.columns.addContext(input.ContextPrefix + v.Name)
		if column >= input.MaxColumns {
			return input.Refuse("too-many-columns", "the records have more than %d columns, the maximum", input.MaxColumns)
		}
		j.contextAt = append(j.contextAt, column)
	}
	return nil
}

// surround fills the columns of the values around the records in the rows that are handed on.
func (r *recordReader) surround() {
	r.cells.Data = r.cells.Data[:len(r.cells.Data):len(r.cells.Data)]
	for i, v := range r.table.around.Values {
		start := len(r.cells.Data)
		r.cells.Data = append(r.cells.Data, v.Text...)
		cell := columnar.NewCell(v.Kind, start, len(r.cells.Data))
		for at := r.table.contextAt[i]; at < len(r.cells.Cell); at += r.cells.Columns {
			r.cells.Cell[at] = cell
		}
	}
}

// usedByPages are the names that lead to members which the pagination of a source uses, by their JSONPaths.
func usedByPages(paths []string) (used []string) {
	for _, text := range paths {
		path, err := jsonpath.Parse(text)
		if err != nil {
			continue
		}
		if steps, ok := path.Steps(); ok {
			used = append(used, strings.Join(wayOf(steps), "."))
		}
	}
	return used
}
