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
	noteRange:     {feedmill.WarnOutOfRange, "days and times that are infinite or outside the years 1 to 9999 are null"},
	noteNotFinite: {feedmill.WarnNotFinite, "Infinity and NaN were kept. They are null in JSON. Fix them at the source if they are errors."},
	noteNoNumber:  {feedmill.WarnNotFinite, "decimals that are infinite or none at all (NaN) are null"},
	noteSum:       {feedmill.WarnNotFinite, "Sums and averages that are beyond the range of a number, or not a number, are null."},
	noteText:      {feedmill.WarnBadText, "Some texts are not UTF-8. Their invalid bytes were replaced with U+FFFD. Write UTF-8 at the source."},
	noteJSON:      {feedmill.WarnBadJSON, "Some values of this JSON column are not valid JSON and were imported as JSON strings. Fix them at the source."},
	noteZeroDate:  {feedmill.WarnOutOfRange, "zero dates such as 0000-00-00, and days that no calendar has, are null"},
	noteMisfit:    {feedmill.WarnNulled, "values that are not of the type that the column is declared with are null; declare it without a type to have them as text"},
	noteTruth:     {feedmill.WarnTruth, "numbers other than 0 and 1 in a column of booleans are true, as the database has it"},
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
