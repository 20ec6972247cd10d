package database

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// noteKind is something about values that their owner should know of.
type noteKind int

const (
	noteRange noteKind = iota
	noteNotFinite
	noteNoNumber
	noteSum
	noteText
	noteJSON
	noteZeroDate
	noteMisfit
	noteTruth
	noteKinds
)

var noteTexts = [noteKinds]struct{ code, detail string }{
	noteRange:     {feedmill.WarnOutOfRange, "Dates that are infinite or outside the years 1 to 9999 were imported as null. Fix them in the database, or cast them to text in a view."},
	noteNotFinite: {feedmill.WarnNotFinite, "Infinity and NaN were kept. They are null in JSON. Fix them at the source if they are errors."},
	noteNoNumber:  {feedmill.WarnNotFinite, "Decimals that are Infinity or NaN were imported as null. Fix them in the database, or cast them to text in a view."},
	noteSum:       {feedmill.WarnNotFinite, "Sums and averages that are out of range or NaN are null. Filter out the rows that cause them."},
	noteText:      {feedmill.WarnBadText, "Some texts are not UTF-8. Their invalid bytes were replaced with U+FFFD. Write UTF-8 at the source."},
	noteJSON:      {feedmill.WarnBadJSON, "Some values of this JSON column are not valid JSON and were imported as JSON strings. Fix them at the source."},
	noteZeroDate:  {feedmill.WarnOutOfRange, "Zero dates such as 0000-00-00 and invalid dates were imported as null. Fix them in the database, or cast them to text in a view."},
	noteMisfit:    {feedmill.WarnNulled, "Values that do not match the declared type of the column were imported as null. Declare the column without a type to import them as text."},
	noteTruth:     {feedmill.WarnTruth, "Numbers other than 0 and 1 in a boolean column were imported as true, as in the database. Cast the column to an integer in a view to keep the numbers."},
}

type note struct {
	count, first int64
	examples     []feedmill.Example
}

// maxExamples is how many values a warning shows.
const maxExamples = 3

func (b *Builder) note(kind noteKind) *note {
	n := &b.notes[kind]
	if n.count == 0 {
		n.first = b.rows + int64(b.v.Len) + 1
	}
	n.count++
	return n
}

// ZeroDate adds a null for a date that no calendar has.
func (b *Builder) ZeroDate(text []byte) {
	b.example(b.note(noteZeroDate), text)
	b.Null()
}

// Misfit adds a null for a value of another type.
func (b *Builder) Misfit(text []byte) {
	b.example(b.note(noteMisfit), text)
	b.Null()
}

// OtherTruth notes that the next value is a boolean that is neither 0 nor 1.
func (b *Builder) OtherTruth(text []byte) { b.example(b.note(noteTruth), text) }

func (b *Builder) example(n *note, text []byte) {
	if len(n.examples) < maxExamples {
		shown := strings.ToValidUTF8(string(text[:min(len(text), 100)]), "\ufffd")
		n.examples = append(n.examples, feedmill.Example{Row: b.rows + int64(b.v.Len) + 1, Value: shown})
	}
}

// Warnings are what was noticed of the column, under a name.
func (b *Builder) Warnings(name string) (all []feedmill.Warning) {
	for kind, n := range b.notes {
		if n.count > 0 {
			all = append(all, feedmill.Warning{
				Code: noteTexts[kind].code, Column: name, Count: n.count, FirstRow: n.first,
				Examples: slices.Clone(n.examples), Detail: noteTexts[kind].detail,
			})
		}
	}
	return all
}
