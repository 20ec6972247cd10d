package xml

// spot is a field, or a node on the way to records, as one goroutine knows it: with the names
// that its reader has for them.
type spot struct {
	// field is nil on the way to the records, where record says that they are here.
	field  *field
	node   *node
	record bool
	name   string

	spelled  *Name
	children []*spot
	byName   map[string]*spot
	// first and next are what is expected: the first child and the next sibling of the
	// last time.
	first, next *spot
	attributes  []spotAttribute

	// after is what followed this element before.
	after follows[spot]
	// item is the last nested item here, in the item around.
	item, around int32
}

type spotAttribute struct {
	spelled *Name
	*fieldAttribute
}

// newWay makes the spots that lead to the records.
func newWay(n *node) *spot {
	s := &spot{node: n, name: n.name, record: n.record}
	if s.record {
		return s
	}
	for _, child := range n.children {
		if child.leads {
			s.add(newWay(child))
		}
	}
	return s
}

// newSpot makes the spots of a field and of those in it.
func newSpot(f *field) *spot {
	s := &spot{field: f, name: f.name, item: -1, around: -1}
	for _, a := range f.attributes {
		s.attributes = append(s.attributes, spotAttribute{fieldAttribute: a})
	}
	for _, child := range f.children {
		s.add(newSpot(child))
	}
	return s
}

func (s *spot) add(child *spot) {
	if s.byName == nil {
		s.byName = make(map[string]*spot)
	}
	s.byName[child.name] = child
	s.children = append(s.children, child)
}

// child is the spot of an element that begins here behind another one, or nil.
func (r *recordReader) child(s, last *spot, name *Name) *spot {
	expected := s.first
	if last != nil {
		expected = last.next
	}
	if expected != nil {
		if expected.spelled == name {
			return expected
		}
		if expected.next != nil && expected.next.spelled == name {
			return expected.next
		}
	}
	r.scratch = name.appendTo(r.scratch[:0])
	found := s.byName[string(r.scratch)]
	if found == nil {
		return nil
	}
	found.spelled = name
	if last == nil {
		s.first = found
	} else {
		last.next = found
	}
	return found
}

// attribute is the attribute of a number, or nil.
func (r *recordReader) attribute(s *spot, i int, name *Name) *fieldAttribute {
	if i < len(s.attributes) && s.attributes[i].spelled == name {
		return s.attributes[i].fieldAttribute
	}
	for k := range s.attributes[:min(len(s.attributes), fewNames)] {
		if s.attributes[k].spelled == name {
			return s.attributes[k].fieldAttribute
		}
	}
	r.scratch = name.appendTo(r.scratch[:0])
	found := s.field.attribute[string(r.scratch)]
	if found == nil {
		return nil
	}
	for k := range s.attributes[:min(len(s.attributes), fewNames)] {
		if s.attributes[k].fieldAttribute == found {
			s.attributes[k].spelled = name
		}
	}
	return found
}
