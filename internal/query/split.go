package query

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// Split is a query of which some computed fields are not computed by its source. The source
// reads the rows; what depends on these fields is left.
type Split struct {
	// Inner is what the source reads. Its outputs are Fetched: columns of the table, and
	// formulas that the source computes.
	Inner   *Tree
	Fetched []Column
	// Outer is what is left: its rows have what Fetched and the formulas give.
	Outer *Plan
	// First are the formulas that Tests needs, and Then the others, each in order. Tests are
	// the tests of formulas.
	First, Then []int
	Tests       All
	// tests has, for each test of the query, its place in Inner, or -1.
	tests []int
}

// NewSplit divides a query that the source cannot run. Sent reports whether the source computes a
// formula. It returns nil where the source computes all that are used.
func NewSplit(t *Tree, sent func(formula int) bool) *Split {
	here := make([]bool, len(t.Formulas.List))
	var left []int
	for _, i := range t.Used() {
		reads := t.Formulas.Reads(i)
		here[i] = !sent(i) || slices.ContainsFunc(reads, func(index int) bool { return index >= t.Formulas.Base && here[index-t.Formulas.Base] })
		if here[i] {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return nil
	}
	isHere := func(c Column) bool { i := t.Formulas.Of(c); return i >= 0 && here[i] }
	s := &Split{}
	inner := *t
	inner.Outputs, inner.Where, inner.Having, inner.Sort, inner.Limit, inner.Offset, inner.Latest = nil, nil, nil, nil, 0, 0, nil
	var first []int
	for _, test := range t.Where {
		columns := columnsOf(test)
		if !slices.ContainsFunc(columns, isHere) {
			s.tests = append(s.tests, len(inner.Where))
			inner.Where = append(inner.Where, test)
			continue
		}
		s.tests, s.Tests = append(s.tests, -1), append(s.Tests, test)
		for _, c := range columns {
			if isHere(c) {
				first = append(first, t.Formulas.Of(c))
			}
		}
	}
	only := func(formulas []int) []int {
		return slices.DeleteFunc(formulas, func(i int) bool { return !here[i] })
	}
	s.First = only(t.Formulas.With(first))
	s.Then = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(s.First, i) })
	grouped := t.Grouped()
	sortHere := !grouped && slices.ContainsFunc(t.Sort, func(k Key) bool { return isHere(k.Column) })
	limited := t.Limit > 0 || t.Offset > 0
	s.Outer = &Plan{Tree: t, GroupHere: grouped, SortHere: sortHere, LimitHere: !grouped && !sortHere && limited && len(s.Tests) > 0}
	s.Outer.fetch()
	if !grouped && !sortHere {
		inner.Sort = t.Sort
		if !s.Outer.LimitHere {
			inner.Limit, inner.Offset = t.Limit, t.Offset
		}
	}
	s.fetch(&inner, t, left, here)
	s.Inner = &inner
	return s
}

// fetch finds what the source has to read.
func (s *Split) fetch(inner, t *Tree, left []int, here []bool) {
	need := func(c Column, name string) {
		switch i := t.Formulas.Of(c); {
		case i >= 0 && here[i], s.At(c) >= 0:
			return
		case name == "" || slices.ContainsFunc(inner.Outputs, func(o Output) bool { return o.Name == name }):
			name = fmt.Sprintf("%s (%d)", c.Name, len(inner.Outputs))
		}
		s.Fetched = append(s.Fetched, c)
		inner.Outputs = append(inner.Outputs, Output{Expression{Column: c}, name})
	}
	for i, e := range s.Outer.Fetched {
		name := e.Column.Name
		if !s.Outer.GroupHere && i < len(t.Outputs) {
			name = t.Outputs[i].Name
		}
		need(e.Column, name)
	}
	for _, test := range s.Tests {
		for _, c := range columnsOf(test) {
			need(c, c.Name)
		}
	}
	for _, i := range left {
		for _, index := range t.Formulas.Reads(i) {
			need(t.Formulas.Columns[index], t.Formulas.Columns[index].Name)
		}
	}
	if len(s.Fetched) == 0 { // rows are counted by some column
		need(t.Formulas.Columns[0], t.Formulas.Columns[0].Name)
	}
}

// At is where a column is fetched, -1 for nowhere.
func (s *Split) At(c Column) int {
	return slices.IndexFunc(s.Fetched, func(other Column) bool { return other.Index == c.Index })
}

// Ran is where a filter of the query runs. Inner is the answer for one that the source is given.
func (s *Split) Ran(f Placed, inner func(Placed) feedmill.RanIn) feedmill.RanIn {
	if f.Column.Derived != nil || s.tests[f.Test] < 0 {
		return feedmill.RanInHere
	}
	f.Test = s.tests[f.Test]
	return inner(f)
}
