package typed

import "github.com/feedmill/feedmill"

// noteKind is something about values that their owner should know of.
type noteKind int

const (
	noteDigits noteKind = iota
	noteRange
	noteNumber
	noteText
	noteJSON
	noteKinds
)

// noteTexts are the code of each kind, and what to say of it.
var noteTexts = [noteKinds]struct{ code, detail string }{
	noteDigits: {feedmill.WarnTimeDigits, "times that are finer than microseconds were cut to those"},
	noteRange:  {feedmill.WarnOutOfRange, "days and times outside the years 1 to 9999 are null"},
	noteNumber: {feedmill.WarnNotFinite, "numbers that are infinite or none at all (NaN) are kept, and are null where they are read as JSON"},
	noteText:   {feedmill.WarnBadText, "texts are not UTF-8; bytes that are no text became U+FFFD"},
	noteJSON:   {feedmill.WarnBadJSON, "values of a column that says it is JSON are none, and became JSON strings"},
}

// note is how often something was seen, and in which row first, from 1.
type note struct{ count, first int64 }

// note counts something about row i of this batch.
func (c *column) note(kind noteKind, i int) {
	n := &c.notes[kind]
	if n.count == 0 {
		n.first = c.rows + int64(i) + 1
	}
	n.count++
}

// warnings are what was noticed of a column of that name.
func (c *column) warnings(name string) (all []feedmill.Warning) {
	for kind, n := range c.notes {
		if n.count > 0 {
			all = append(all, feedmill.Warning{
				Code: noteTexts[kind].code, Column: name, Count: n.count, FirstRow: n.first, Detail: noteTexts[kind].detail,
			})
		}
	}
	return all
}
