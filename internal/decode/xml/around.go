package xml

import (
	"context"
	"io"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// lookAround finds the values around the records, where they become columns or a warning names them.
func (t *Table) lookAround(ctx context.Context, o input.Context) error {
	if o.Off() || len(t.records) == 0 {
		return nil
	}
	if !o.Columns {
		t.warnings = append(t.warnings, o.Warnings(t.namesAround(ctx))...)
		return nil
	}
	records := make(map[string]bool)
	for _, n := range t.records {
		records[n.path()] = true
	}
	s := &surroundings{xml: t.Reader(ctx), records: records, seen: make(map[string]bool)}
	s.xml.DropBlank = true
	if err := s.walk(); err != nil {
		return err
	}
	t.around = s.ContextValues
	t.warnings = append(t.warnings, o.Warnings(t.around)...)
	if len(t.shape.names)+len(t.around.Values) > input.MaxColumns {
		return input.Refuse("too-many-columns", "the records have more than %d columns, the maximum", input.MaxColumns)
	}
	for _, v := range t.around.Values {
		t.shape.names = append(t.shape.names, input.ContextPrefix+v.Name)
	}
	return nil
}

// namesAround are the names of the values around the records. They are not looked for in a large document whose path was set, which
// would have to be read once more.
func (t *Table) namesAround(ctx context.Context) (around input.ContextValues) {
	document, records := t.survey.document, make(map[string]bool)
	for _, n := range t.records {
		records[n.path()] = true
	}
	if t.path != "" {
		if t.src.Size() > maxBesides {
			return around
		}
		whole, err := surveyDocument(t.Reader(ctx), nil, usualBlockBytes, t.tagByTag)
		if err != nil { // what the path leads to was read, and that is what counts
			return around
		}
		document = whole.document
	}
	var visit func(n *node, name string)
	visit = func(n *node, name string) {
		if n.count != 1 || records[n.path()] {
			return
		}
		for _, a := range n.attributes {
			if isData(a) {
				around.Add(strings.TrimPrefix(name+".@"+a.name, "."), columnar.CellPlain, nil)
			}
		}
		if n.text && len(n.children) == 0 && name != "" {
			around.Add(name, columnar.CellPlain, nil)
		}
		for _, child := range n.children {
			visit(child, strings.TrimPrefix(name+"."+child.name, "."))
		}
	}
	visit(document.children[0], "")
	return around
}

// surroundings are the attributes and texts of a document around its records. Elements that repeat are lists, and not among them.
type surroundings struct {
	xml     *Reader
	records map[string]bool
	// seen are the paths of elements.
	seen map[string]bool
	way  []string
	input.ContextValues
}

// maxAround is how many elements around the records are looked at.
const maxAround = 10_000

func (s *surroundings) walk() error {
	for {
		kind, err := s.xml.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case StartElement:
			err = s.element()
		case EndElement:
			s.way = s.way[:len(s.way)-1]
		}
		if err != nil {
			return err
		}
	}
}

// element deals with the element that starts.
func (s *surroundings) element() error {
	way := append(s.way, s.xml.Name().String())
	path := "/" + strings.Join(way, "/")
	if s.records[path] {
		return s.xml.Skip()
	}
	name := strings.Join(way[1:], ".")
	if s.seen[path] || len(s.seen) == maxAround {
		s.Drop(name)
		return s.xml.Skip()
	}
	s.seen[path] = true
	for _, a := range s.xml.Attributes() {
		if kindOf(a.Name) == dataAttribute {
			s.Add(strings.TrimPrefix(name+".@"+a.Name.String(), "."), columnar.CellPlain, a.Value)
		}
	}
	if text, ok := s.xml.TextOnly(); ok {
		if text = trimBlank(text); len(text) > 0 && name != "" {
			s.Add(name, columnar.CellPlain, text)
		}
		return nil
	}
	s.way = way
	return nil
}

// surround fills the columns of the values around the records in the rows that are handed on.
func (r *recordReader) surround() {
	values := r.table.around.Values
	for i, v := range values {
		start := len(r.cells.Data)
		r.cells.Data = append(r.cells.Data, v.Text...)
		cell := columnar.NewCell(v.Kind, start, len(r.cells.Data))
		for at := r.cells.Columns - len(values) + i; at < len(r.cells.Cell); at += r.cells.Columns {
			r.cells.Cell[at] = cell
		}
	}
}
