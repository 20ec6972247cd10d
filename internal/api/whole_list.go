package api

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// wholeList is what is asked for of a list that is answered whole unless a limit
// is given: one that describes something, such as the fields of a view.
type wholeList struct {
	// limit is zero where none is given.
	limit int
	// after is the name of the last element of the page before.
	after string
}

// wholeList reads limit and cursor.
func (c *call) wholeList() (l wholeList) {
	if _, given := c.query["limit"]; given {
		l.limit = c.pageLimit()
	}
	l.after = c.nameCursor()
	return l
}

// wholeAnswer is the part of a list that is asked for, and the way to the next.
func wholeAnswer[T any](c *call, l wholeList, all []T, name func(T) string) (answer, error) {
	if l.after != "" {
		last := slices.IndexFunc(all, func(v T) bool { return name(v) == l.after })
		if last < 0 {
			return answer{}, feedmill.Invalid("", feedmill.Fault{Parameter: "cursor", Detail: noCursor})
		}
		all = all[last+1:]
	}
	var list jsonList
	for i, v := range all {
		if l.limit > 0 && list.n == l.limit || !list.add(v) {
			a := list.answer()
			c.linkAfter(&a, name(all[i-1]))
			return a, nil
		}
	}
	return list.answer(), nil
}
