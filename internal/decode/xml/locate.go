package xml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// fewElements is how many elements of one name are still taken for the lines of what is around
// them, where that is an invoice or the like.
const fewElements = 100

const atomSpace = "http://www.w3.org/2005/Atom"

// locate makes nodes record nodes by what the document is: the elements that repeat in one
// element, and have attributes or elements in them, and of several the ones that are the
// most bytes; but the element around them where it has an id and two more values of its own and
// not many of them. Without any, the elements of the root where all are of one name, and
// else the innermost element that everything is in.
func (s *survey) locate() {
	root := s.document.children[0]
	if entry := root.child("entry"); entry != nil && root.space == atomSpace && root.local == "feed" {
		entry.record = true // a feed has an id, and is no invoice
		return
	}
	var best *node
	root.candidates(func(n *node) {
		if best == nil || isSideCar(best) && !isSideCar(n) || isSideCar(best) == isSideCar(n) && n.bytes > best.bytes {
			best = n
		}
	})
	switch {
	case best != nil && best.most < fewElements && isInvoice(best.owner()):
		best = best.owner()
	case best != nil:
	case len(root.children) == 1 && root.children[0].repeats():
		best = root.children[0]
	default:
		best = innermost(root)
	}
	best.record = true
}

// candidates calls found for the outermost nodes below whose elements repeat and have something in
// them.
func (n *node) candidates(found func(*node)) {
	for _, child := range n.children {
		if child.repeats() && child.hasData() {
			found(child)
			continue
		}
		child.candidates(found)
	}
}

// owner is the node that the elements are a list of: the one around them, or around the element
// that has nothing but them.
func (n *node) owner() *node {
	n = n.parent
	for n.parent.parent != nil && len(n.children) == 1 && !n.text && !n.repeats() && !slices.ContainsFunc(n.attributes, isData) {
		n = n.parent
	}
	return n
}

// child is the first child of a local name, or nil.
func (n *node) child(local string) *node {
	for _, child := range n.children {
		if child.local == local {
			return child
		}
	}
	return nil
}

// isSideCar reports whether elements are of what stands beside records rather than records.
func isSideCar(n *node) bool {
	for _, name := range []string{n.local, n.parent.local} {
		switch strings.ToLower(name) {
		case "error", "errors", "link", "links", "included", "facet", "facets":
			return true
		}
	}
	return false
}

// isInvoice reports whether the elements of a node have an id and at least two more values of
// their own.
func isInvoice(n *node) bool {
	id, others := false, 0
	note := func(local string) {
		if strings.EqualFold(local, "id") && !id {
			id = true
			return
		}
		others++
	}
	for _, a := range n.attributes {
		if a.kind == dataAttribute {
			note(a.spelled.Local)
		}
	}
	for _, child := range n.children {
		if !child.repeats() && len(child.children) == 0 {
			note(child.local)
		}
	}
	return id && others >= 2
}

// innermost goes down as long as an element has one element in it and nothing else.
func innermost(n *node) *node {
	for len(n.children) == 1 && !n.text && len(n.children[0].children) > 0 && !slices.ContainsFunc(n.attributes, isData) {
		n = n.children[0]
	}
	return n
}

func isData(a *nodeAttribute) bool { return a.kind == dataAttribute }

// recordNodes are the nodes whose elements are records, in the order of the document. It notes which
// nodes lead to them.
func (s *survey) recordNodes() []*node {
	var found []*node
	var visit func(n *node)
	visit = func(n *node) {
		if n.record {
			found = append(found, n)
			for at := n; at != nil && !at.leads; at = at.parent {
				at.leads = true
			}
			return
		}
		for _, child := range n.children {
			visit(child)
		}
	}
	visit(s.document)
	return found
}

// others is a warning that there are records elsewhere, or none.
func (s *survey) others(chosen []*node, rules feedmill.Rules) []feedmill.Warning {
	if len(chosen) != 1 {
		return nil
	}
	var paths []*node
	s.document.candidates(func(n *node) {
		if !n.within(chosen[0]) && !chosen[0].within(n) && (rules > feedmill.RulesFirst || !isSideCar(n)) {
			paths = append(paths, n)
		}
	})
	if len(paths) == 0 {
		return nil
	}
	slices.SortStableFunc(paths, func(a, b *node) int { return cmp.Compare(b.bytes, a.bytes) })
	const listed = 5
	var examples []string
	for _, n := range paths[:min(len(paths), listed)] {
		examples = append(examples, n.path())
	}
	return []feedmill.Warning{{
		Code: feedmill.WarnRecords, Count: int64(len(paths)),
		Detail: fmt.Sprintf("The records were read from %s. The document also has records at %s; set path to read them instead.", chosen[0].path(), strings.Join(examples, ", ")),
	}}
}

// listCandidates are the places where the records may be: those that were chosen first, and then
// the ones with the most bytes.
func (s *survey) listCandidates(chosen []*node) (all []feedmill.RecordCandidate) {
	nodes := slices.Clone(chosen)
	s.document.candidates(func(n *node) {
		if !slices.Contains(chosen, n) {
			nodes = append(nodes, n)
		}
	})
	others := nodes[len(chosen):]
	slices.SortStableFunc(others, func(a, b *node) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, n := range nodes[:min(len(nodes), feedmill.MaxCandidates)] {
		c := feedmill.RecordCandidate{Path: n.path(), Count: n.count, Fields: []string{}}
		for _, a := range n.attributes {
			if isData(a) {
				c.Fields = append(c.Fields, "@"+a.name)
			}
		}
		for _, child := range n.children {
			c.Fields = append(c.Fields, child.name)
		}
		c.Fields = c.Fields[:min(len(c.Fields), feedmill.MaxCandidateFields)]
		all = append(all, c)
	}
	return all
}

// within reports whether a node is another one or below it.
func (n *node) within(other *node) bool {
	for at := n; at != nil; at = at.parent {
		if at == other {
			return true
		}
	}
	return false
}
