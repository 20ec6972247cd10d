package xml

import (
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// field is an element in the records, wherever those are.
type field struct {
	name string
	// way is the name of its column, empty for the record itself.
	way        string
	parent     *field
	children   []*field
	byName     map[string]*field
	attributes []*fieldAttribute
	attribute  map[string]*fieldAttribute
	order      int

	// text says that there is text of its own, and mixed that it has elements, too:
	// its text is then all text in it.
	text, mixed bool
	textOrder   int
	// repeats says that several stand in one, and recurs that one of the same name is
	// in it.
	repeats, recurs bool
	// nested says that it is JSON, with all that is in it.
	nested bool
	// alone says that it is nothing but text.
	alone bool
	// says is what an empty element is by its name, true or false.
	says string
	// level counts the elements on the way here that become rows, where those here do.
	level int
	// column is that of its text, or of its JSON; -1 where there is none.
	column int
}

// fieldAttribute is an attribute of a field.
type fieldAttribute struct {
	name   string
	kind   attributeKind
	order  int
	column int
}

const (
	// textName is the name of text that does not stand alone.
	textName = "#text"
	// maxColumnName is how long the name of a column can be. What has a longer one
	// stays in the JSON of what is around it.
	maxColumnName = 1024
)

// shape is what the records have in them.
type shape struct {
	record *field
	names  []string
	// unexploded says that no record has what is to be exploded.
	unexploded bool
	// lists is how many lists in each other are exploded.
	lists int
	// mixed says that there is a field of text and elements.
	mixed bool
}

// newShape puts together what the elements of the nodes have in them.
func newShape(records []*node, explode []pathStep) (*shape, error) {
	s := &shape{record: &field{column: -1}}
	pairs := make(map[[2]string]bool)
	for _, n := range records {
		s.record.name = n.name
		s.record.merge(n, pairs)
	}
	s.record.findRecurring(make(map[string]*field))
	if explode != nil {
		if err := s.explode(explode); err != nil {
			return nil, err
		}
	}
	s.settle(s.record, pairs)
	return s, s.number()
}

// merge takes in what the elements of a node have. Pairs are the names of elements and of those
// around them where several stand in one.
func (f *field) merge(n *node, pairs map[[2]string]bool) {
	if f.attribute == nil {
		f.attribute = make(map[string]*fieldAttribute)
	}
	for _, a := range n.attributes {
		if f.attribute[a.name] == nil {
			known := &fieldAttribute{name: a.name, kind: a.kind, order: a.order, column: -1}
			f.attributes = append(f.attributes, known)
			f.attribute[a.name] = known
		}
	}
	if n.text && !f.text {
		f.text, f.textOrder = true, n.textOrder
	}
	for _, below := range n.children {
		child := f.byName[below.name]
		if child == nil {
			child = &field{name: below.name, parent: f, order: below.order, column: -1}
			if f.byName == nil {
				f.byName = make(map[string]*field)
			}
			f.byName[below.name] = child
			f.children = append(f.children, child)
		}
		if below.repeats() {
			child.repeats = true
			pairs[[2]string{f.name, child.name}] = true
		}
		child.merge(below, pairs)
	}
}

// findRecurring finds fields that have one of the same name in them. Around are the outermost
// fields of each name that this one stands in.
func (f *field) findRecurring(around map[string]*field) {
	for _, child := range f.children {
		outer := around[child.name]
		switch {
		case outer != nil:
			outer.recurs = true
		case child.name == f.name && f.parent == nil:
			child.recurs = true
		default:
			around[child.name] = child
		}
		child.findRecurring(around)
		if outer == nil {
			delete(around, child.name)
		}
	}
}

// explode gives the fields on the way to the one that is exploded their levels.
func (s *shape) explode(steps []pathStep) error {
	at := s.record
	for i, step := range steps {
		var next *field
		for _, child := range at.children {
			prefix, local, _ := parseName(child.name)
			if step.matches(prefix, local) {
				next = child
				break
			}
		}
		if next == nil {
			s.unexploded = true
			return nil
		}
		if at = next; at.repeats || i == len(steps)-1 {
			s.lists++
			at.level = s.lists
		}
		at.recurs = false
	}
	// Those on the way are not JSON.
	for ; at != s.record; at = at.parent {
		at.repeats = false
	}
	return nil
}

// settle decides what of a field and those in it becomes columns and what JSON.
func (s *shape) settle(f *field, pairs map[[2]string]bool) {
	f.mixed, f.alone = f.text && len(f.children) > 0, f.plain()
	if _, local, _ := parseName(f.name); f.alone && (local == "true" || local == "false") {
		f.says = local
	}
	s.mixed = s.mixed || f.mixed
	for _, child := range f.children {
		child.way = child.name
		if f.way != "" {
			child.way = f.way + "." + child.name
		}
		child.nested = f.nested || child.repeats || child.recurs || len(child.way)+len(textName)+1 > maxColumnName
		if f.nested {
			child.repeats = pairs[[2]string{f.name, child.name}]
			child.way = ""
		}
		s.settle(child, pairs)
	}
}

// plain reports whether a field is nothing but text.
func (f *field) plain() bool {
	return len(f.children) == 0 && !slices.ContainsFunc(f.attributes, func(a *fieldAttribute) bool { return a.kind == dataAttribute })
}

// number gives the columns their numbers, in the order in which they first appear.
func (s *shape) number() error {
	type column struct {
		name  string
		order int
		at    *int
	}
	var columns []column
	var visit func(f *field)
	visit = func(f *field) {
		name := f.way
		join := func(last string) string {
			if name == "" {
				return last
			}
			return name + "." + last
		}
		if f.nested {
			columns = append(columns, column{name, f.order, &f.column})
			return
		}
		plain := f.alone
		switch {
		case plain && f.parent != nil:
			columns = append(columns, column{name, f.order, &f.column})
		case plain:
			columns = append(columns, column{textName, f.order, &f.column})
		case f.text:
			columns = append(columns, column{join(textName), f.textOrder, &f.column})
		}
		for _, a := range f.attributes {
			if a.kind == dataAttribute {
				columns = append(columns, column{join("@" + a.name), a.order, &a.column})
			}
		}
		for _, child := range f.children {
			visit(child)
		}
	}
	visit(s.record)
	slices.SortStableFunc(columns, func(a, b column) int { return a.order - b.order })
	if len(columns) > input.MaxColumns {
		return input.Refuse("too-many-columns", "the records have more than %d columns, the maximum; set path to select smaller records", input.MaxColumns)
	}
	for i, c := range columns {
		*c.at = i
		s.names = append(s.names, c.name)
	}
	return nil
}
