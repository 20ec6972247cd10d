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
	noteDigits: {feedmill.WarnTimeDigits, "Times were truncated to microseconds. Write them as text at the source to keep all digits."},
	noteRange:  {feedmill.WarnOutOfRange, "Dates outside the years 1 to 9999 were imported as null. Fix them at the source, or write them as text."},
	noteNumber: {feedmill.WarnNotFinite, "Infinity and NaN were kept. They are null in JSON. Fix them at the source if they are errors."},
	noteText:   {feedmill.WarnBadText, "Some texts are not UTF-8. Their invalid bytes were replaced with U+FFFD. Write UTF-8 at the source."},
	noteJSON:   {feedmill.WarnBadJSON, "Some values of this JSON column are not valid JSON and were imported as JSON strings. Fix them at the source."},
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
