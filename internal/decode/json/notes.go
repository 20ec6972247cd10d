package json

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// warnMixedRecords is the code of the warning that some records are objects
// and others are not.
const warnMixedRecords = "mixed-records"

// maxKeyWarnings is how many columns with repeated names get a warning of
// their own; the others share one.
const maxKeyWarnings = 20

// noteCount is how often something was seen and the first row where it was.
type noteCount struct{ count, first int64 }

func (c *noteCount) note(row int64) { c.add(noteCount{1, row}) }

func (c *noteCount) add(other noteCount) {
	if c.count == 0 || other.count > 0 && other.first < c.first {
		c.first = other.first
	}
	c.count += other.count
}

// notes is what was noticed in the records of a block; rows are counted
// from its first.
type notes struct {
	objects int64
	others  noteCount // records that are no objects
	// repeats are names that stand in their object again.
	repeats map[*nameNode]noteCount
}

func (n *notes) repeat(node *nameNode, count, row int64) {
	if n.repeats == nil {
		n.repeats = make(map[*nameNode]noteCount)
	}
	sum := n.repeats[node]
	sum.add(noteCount{count, row})
	n.repeats[node] = sum
}

func (n *notes) reset() {
	n.objects, n.others = 0, noteCount{}
	clear(n.repeats)
}

// summary is what was noticed in all records.
type summary struct {
	objects int64
	others  noteCount
	repeats map[string]noteCount
}

// add takes in the notes of a block that begins at a row. Where a name is that
// of no column, as that of an object is, the objects are named.
func (s *summary) add(notes *notes, first int64) {
	s.objects += notes.objects
	if notes.others.count > 0 {
		s.others.add(noteCount{notes.others.count, notes.others.first + first})
	}
	for node, found := range notes.repeats {
		if s.repeats == nil {
			s.repeats = make(map[string]noteCount)
		}
		name := node.flatName()
		sum := s.repeats[name]
		sum.add(noteCount{found.count, found.first + first})
		s.repeats[name] = sum
	}
}

func (s *summary) warnings() []feedmill.Warning {
	var out []feedmill.Warning
	if s.objects > 0 && s.others.count > 0 {
		out = append(out, feedmill.Warning{
			Code: warnMixedRecords, Column: valueName, Count: s.others.count, FirstRow: s.others.first + 1,
			Detail: fmt.Sprintf("Some records are not objects. Their values are in the column %s. Set path to read only objects.", valueName),
		})
	}
	type repeated struct {
		name string
		noteCount
	}
	var repeats []repeated
	for name, found := range s.repeats {
		repeats = append(repeats, repeated{name, found})
	}
	slices.SortFunc(repeats, func(a, b repeated) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name))
	})
	var rest noteCount
	for i, found := range repeats {
		if i >= maxKeyWarnings {
			rest.add(found.noteCount)
			continue
		}
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnKeys, Column: found.name, Count: found.count, FirstRow: found.first + 1,
			Detail: "Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.",
		})
	}
	if rest.count > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnKeys, Count: rest.count, FirstRow: rest.first + 1,
			Detail: fmt.Sprintf("Duplicate keys in %d more columns; the last value was used. Remove the duplicates at the source.", len(repeats)-maxKeyWarnings),
		})
	}
	return out
}
