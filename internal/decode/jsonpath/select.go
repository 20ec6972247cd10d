package jsonpath

// maxSelected is how many values a part of a path can select.
const maxSelected = 1 << 22

// Select gives the values that the path selects, in the order of RFC 9535. A
// value can be there more than once.
func (p *Path) Select(w *Work, t *Tree) ([]Node, error) {
	e := &evaluation{tree: t, work: w}
	defer e.end()
	return e.query(p.segments, 0)
}

func (e *evaluation) query(segments []segment, from Node) ([]Node, error) {
	nodes := []Node{from}
	for _, segment := range segments {
		var next []Node
		for _, node := range nodes {
			var err error
			if segment.deep {
				next, err = e.descend(next, segment.selectors, node)
			} else {
				next, err = e.selectAll(next, segment.selectors, node)
			}
			if err != nil {
				return nil, err
			}
		}
		nodes = next
	}
	return nodes, nil
}

// descend applies the selectors to the node and to all below it, parents first.
func (e *evaluation) descend(found []Node, selectors []selector, node Node) ([]Node, error) {
	found, err := e.selectAll(found, selectors, node)
	if err != nil {
		return nil, err
	}
	nodes := e.tree.nodes
	for child := nodes[node].first; child != none; child = nodes[child].next {
		if found, err = e.descend(found, selectors, child); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (e *evaluation) selectAll(found []Node, selectors []selector, node Node) ([]Node, error) {
	for i := range selectors {
		before := len(found)
		var err error
		if found, err = e.selectOne(found, &selectors[i], node); err != nil {
			return nil, err
		}
		if err := e.spend(1 + len(found) - before); err != nil {
			return nil, err
		}
		if len(found) > maxSelected {
			return nil, ErrTooMuchWork
		}
	}
	return found, nil
}

func (e *evaluation) selectOne(found []Node, s *selector, node Node) ([]Node, error) {
	t := e.tree
	kind := t.nodes[node].kind
	if kind != Object && kind != Array {
		return found, nil
	}
	switch s.kind {
	case selectName:
		if kind == Object {
			member, err := e.member(node, s.name)
			if err != nil {
				return nil, err
			}
			found = appendFound(found, member)
		}
	case selectIndex:
		if kind == Array {
			if err := e.spend(int(t.nodes[node].count)); err != nil {
				return nil, err
			}
			found = appendFound(found, t.element(node, s.index))
		}
	case selectSlice:
		if kind == Array {
			return e.slice(found, s.slice, node)
		}
	case selectAll:
		for child := t.nodes[node].first; child != none; child = t.nodes[child].next {
			found = append(found, child)
		}
	case selectFilter:
		for child := t.nodes[node].first; child != none; child = t.nodes[child].next {
			if err := e.spend(1); err != nil {
				return nil, err
			}
			yes, err := s.filter.test(e, child)
			if err != nil {
				return nil, err
			}
			if yes {
				found = append(found, child)
			}
		}
	}
	return found, nil
}

func appendFound(found []Node, node Node) []Node {
	if node == none {
		return found
	}
	return append(found, node)
}

// member is the value of a name in an object, or none. Only names of the same
// length are looked at.
func (e *evaluation) member(object Node, name string) (Node, error) {
	if err := e.spend(int(e.tree.nodes[object].count)); err != nil {
		return none, err
	}
	for child := e.tree.nodes[object].first; child != none; child = e.tree.nodes[child].next {
		key := e.tree.bytes(e.tree.nodes[child].key)
		if len(key) != len(name) {
			continue
		}
		if len(name) > textBytes {
			if err := e.spendText(len(name)); err != nil {
				return none, err
			}
		}
		if string(key) == name {
			return child, nil
		}
	}
	return none, nil
}

func (e *evaluation) slice(found []Node, s slice, array Node) ([]Node, error) {
	length := int64(e.tree.nodes[array].count)
	if err := e.spend(int(length)); err != nil {
		return nil, err
	}
	step := s.stride()
	first, stop := s.bounds(length)
	if step == 0 || step > 0 && first >= stop || step < 0 && first <= stop {
		return found, nil
	}
	children := make([]Node, 0, length)
	for child := e.tree.nodes[array].first; child != none; child = e.tree.nodes[child].next {
		children = append(children, child)
	}
	// The step may be far larger than the array, so the index is compared
	// before it is moved.
	for i := first; ; i += step {
		found = append(found, children[i])
		if step > 0 && stop-i <= step || step < 0 && i-stop <= -step {
			return found, nil
		}
	}
}
