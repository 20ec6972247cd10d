package query

import "github.com/feedmill/feedmill"

// tree resolves the condition tree, as tests from a place in Where on. A list of which all
// must match is one test for each of its conditions, so that a database can make some of
// them.
func (r *resolver) tree(first int) (where All) {
	root := r.query.Tree
	if root == nil {
		return nil
	}
	nodes := root.All
	if nodes == nil {
		nodes = []feedmill.WhereNode{*root}
	}
	for i := range nodes {
		if p, ok := r.node(&nodes[i], first+len(where)); ok {
			where = append(where, p)
		}
	}
	return where
}

// node resolves a part of the condition tree. It reports false where a part is at fault.
func (r *resolver) node(n *feedmill.WhereNode, test int) (Predicate, bool) {
	switch {
	case n.All != nil:
		parts, ok := r.nodes(n.All, test)
		return All(parts), ok
	case n.Any != nil:
		parts, ok := r.nodes(n.Any, test)
		return Any(parts), ok
	}
	field := n.Place
	field.Pointer += "/field"
	column, ok := r.column(n.From, n.Name, field)
	if !ok {
		return nil, false
	}
	return r.test(column, n.Filter, n.Place, test)
}

func (r *resolver) nodes(list []feedmill.WhereNode, test int) (parts []Predicate, ok bool) {
	ok = true
	for i := range list {
		p, right := r.node(&list[i], test)
		parts, ok = append(parts, p), ok && right
	}
	return parts, ok
}
