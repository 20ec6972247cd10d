package jsonpath

// Step is one step of a path that can be followed while a document is read:
// from a value to some of its children, each known by its name or its index
// and, in a last step, by itself.
type Step struct {
	selector selector
}

// Steps gives the path as steps that select its values in the order of the
// document, where it can be followed that way. That needs one selector in each
// segment, no descendants, no index that counts from the end, and a filter
// only at the end and without a look at the root.
func (p *Path) Steps() (steps []Step, ok bool) {
	for i, segment := range p.segments {
		if segment.deep || len(segment.selectors) != 1 {
			return nil, false
		}
		s := segment.selectors[0]
		switch s.kind {
		case selectIndex:
			ok = s.index >= 0
		case selectSlice:
			ok = s.slice.start >= 0 && s.slice.end >= 0 && s.slice.stride() >= 0
		case selectFilter:
			ok = i == len(p.segments)-1 && !looksAtRoot(s.filter)
		default:
			ok = true
		}
		if !ok {
			return nil, false
		}
		steps = append(steps, Step{s})
	}
	return steps, true
}

// NameStep selects the member of an object that has the name.
func NameStep(name string) Step { return Step{selector{kind: selectName, name: name}} }

// IndexStep selects one element of an array.
func IndexStep(index int64) Step { return Step{selector{kind: selectIndex, index: index}} }

// AllStep selects every member or element.
func AllStep() Step { return Step{selector{kind: selectAll}} }

// Name is the only name that the step selects, where it does so by name.
func (s *Step) Name() (name string, ok bool) {
	return s.selector.name, s.selector.kind == selectName
}

// All reports whether the step selects every member and element.
func (s *Step) All() bool { return s.selector.kind == selectAll }

// Filters reports whether the step looks at each value to select it.
func (s *Step) Filters() bool { return s.selector.kind == selectFilter }

// Member reports whether the step can select the member of an object with
// the name. For a filter [Step.Accepts] decides.
func (s *Step) Member(name []byte) bool {
	switch s.selector.kind {
	case selectName:
		return string(name) == s.selector.name
	case selectAll, selectFilter:
		return true
	}
	return false
}

// Element reports whether the step can select the element of an array at the
// index. For a filter [Step.Accepts] decides.
func (s *Step) Element(index int64) bool {
	switch s.selector.kind {
	case selectAll, selectFilter:
		return true
	case selectIndex:
		return index == s.selector.index
	case selectSlice:
		slice := s.selector.slice
		step := slice.stride()
		return step > 0 && index >= slice.start && (!slice.hasEnd || index < slice.end) && (index-slice.start)%step == 0
	}
	return false
}

// Accepts reports whether a filter selects the root of the tree.
func (s *Step) Accepts(w *Work, t *Tree) (bool, error) {
	e := &evaluation{tree: t, work: w}
	defer e.end()
	return s.selector.filter.test(e, 0)
}

// looksAtRoot reports whether a filter has a path that begins with $.
func looksAtRoot(x any) bool {
	switch x := x.(type) {
	case anyOf:
		return anyLooksAtRoot(x)
	case allOf:
		return anyLooksAtRoot(x)
	case not:
		return looksAtRoot(x.of)
	case comparison:
		return looksAtRoot(x.left) || looksAtRoot(x.right)
	case *call:
		return x.nodes != nil && looksAtRoot(x.nodes) || anyLooksAtRoot(x.args)
	case *query:
		if x.absolute {
			return true
		}
		for _, segment := range x.segments {
			for _, s := range segment.selectors {
				if s.kind == selectFilter && looksAtRoot(s.filter) {
					return true
				}
			}
		}
	}
	return false
}

func anyLooksAtRoot[T any](parts []T) bool {
	for _, part := range parts {
		if looksAtRoot(part) {
			return true
		}
	}
	return false
}
