package spec

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Where rows are added to those that are there and have no key, a row that comes again
// is known by being equal to a stored one. With several parents that takes a column by
// which their rows differ: a new row of one could be equal to a stored row of another,
// and would be left out.

// NoKeyDetail is the fault of a definition that mixes the rows of several parents.
const NoKeyDetail = "Without a key, rows are recognized by their values, so a new row could be mistaken for one of another parent and be lost. " +
	"Set key, or list the columns that identify a parent in each.include. For a list of plain values, use the name in each.as."

// ComparesRows reports whether rows that come again are known by their values alone.
func ComparesRows(mode feedmill.FeedMode, key []string) bool {
	return mode == feedmill.ModeAppend && len(key) == 0
}

// mixesParents reports whether the rows of several parents of a source cannot be told
// apart.
func mixesParents(source *strictjson.Value) bool {
	each, incremental := source.Member("each"), source.Member("incremental")
	if each == nil || each.Kind != '{' || incremental == nil || incremental.Kind != '{' {
		return false
	}
	if include := each.Member("include"); include != nil && len(include.Items) > 0 {
		return false
	}
	values := source.At("/each/in/values")
	return values == nil || len(values.Items) > 1
}

// checkParentIdentity notes a definition whose rows would be mixed up.
func (d *Definition) checkParentIdentity(r *reading) {
	if ComparesRows(d.Mode, d.Key) && mixesParents(&d.doc) {
		r.faults.Note("/each/include", NoKeyDetail)
	}
}
