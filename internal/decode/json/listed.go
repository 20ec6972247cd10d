package json

import (
	"context"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// eachValue goes to the values that the steps lead to, and tells fn with what name and what
// first byte each begins, until that returns false. What is wrong with the document is
// found by whoever reads it.
func (j *Table) eachValue(ctx context.Context, steps []jsonpath.Step, fn func(name []byte, first byte) bool) {
	b := newDocumentBlocks(j.source, steps, true, nil)
	b.readBytes, b.looking, b.interrupted = min(b.readBytes, 4<<10), fn, ctx.Err
	_, _ = b.claim(&block{})
}

// first is the byte with which the value at the end of the steps begins, 0 where there
// is none.
func (j *Table) first(ctx context.Context, steps []jsonpath.Step) (first byte) {
	j.eachValue(ctx, steps, func(_ []byte, byte byte) bool {
		first = byte
		return false
	})
	return first
}

// wantList refuses data that has something else where there was a list of records, as
// the message of a source that has none to give is: its members would be taken for
// them. With always set only a list will do; else so will the members of an object that
// are objects themselves. That there is nothing, or null, is no matter.
func (j *Table) wantList(ctx context.Context, steps []jsonpath.Step, always bool) error {
	last := len(steps) - 1
	if last < 0 || !steps[last].All() {
		return nil
	}
	refuse := func(what string) error {
		return input.Refuse("records-moved", "expected a list of records at %s, found %s; set path to where the records are, such as $.data[*], or $.data.* for the members of an object", jsonpath.Text(steps), what)
	}
	switch j.first(ctx, steps[:last]) {
	case 0, '[', 'n', 'f':
		return nil
	case '{':
	default:
		return refuse("a single value")
	}
	var wrong error
	j.eachValue(ctx, steps, func(name []byte, first byte) bool {
		if always || first != '{' || isComplaint(string(name)) {
			wrong = refuse(fmt.Sprintf("an object with the member %.100q", name))
		}
		return wrong == nil
	})
	return wrong
}

// isComplaint reports whether a member of this name says what went wrong.
func isComplaint(name string) bool {
	switch strings.ToLower(name) {
	case "error", "errors", "fault", "exception":
		return true
	}
	return false
}

// elements is the path of the elements, where the path that was given leads to the list
// that holds them. By the original rules the list itself is the record.
func (j *Table) elements(ctx context.Context, steps []jsonpath.Step) []jsonpath.Step {
	last := len(steps) - 1
	if last < 0 || j.rules == feedmill.RulesOriginal {
		return steps
	}
	if _, named := steps[last].Name(); !named || j.first(ctx, steps) != '[' {
		return steps
	}
	return append(steps[:last+1:last+1], jsonpath.AllStep())
}
