package json

import (
	"slices"
	"strings"
)

// shallowest picks the records by the rules of the first release: the elements of the
// shallowest, and then the longest, array of objects; else the document is the record. That
// release did not store the path. An array without any column of the feed is therefore
// passed over if another one has some of them.
func (l *locator) shallowest() recordPlace {
	place := recordPlace{repeated: l.repeated, hollow: l.hollow}
	lists := slices.DeleteFunc(slices.Clone(l.found), func(c candidate) bool { return c.arrays })
	if len(lists) == 0 {
		return place
	}
	slices.SortStableFunc(lists, func(a, b candidate) int {
		if len(a.path) != len(b.path) {
			return len(a.path) - len(b.path)
		}
		return int(min(1, max(-1, b.count-a.count)))
	})
	best := max(0, slices.IndexFunc(lists, func(c candidate) bool { return l.hasField(fieldsAt(l.src, c.start, 1)) }))
	place.steps, place.span, place.hollow = lists[best].members(), lists[best].span(), false
	for i := range lists {
		if i != best {
			place.other(&lists[i])
		}
	}
	return place
}

// hasField reports whether one of the names is a column of the feed, or the object that its
// columns are in.
func (l *locator) hasField(names []string) bool {
	return slices.ContainsFunc(l.wanted.fields, func(field string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return field == name || strings.HasPrefix(field, name+".") })
	})
}
