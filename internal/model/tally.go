package model

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// tally counts something and remembers the first few.
type tally struct {
	count int64
	// examples are the first, in order; there is one where the count is not 0.
	examples []example
}

// example is the beginning of a value and the number of its row, from 0.
type example struct {
	row  int64
	text string
}

const (
	// maxSample is how much of a value is remembered.
	maxSample = 40
	// maxExamples is how many values are.
	maxExamples = 3
)

// add counts the value of a row. Rows come in any order.
func (t *tally) add(row int64, text []byte) {
	t.count++
	if t.wants(row) {
		t.remember(example{row, sample(text)})
	}
}

// wants reports whether a row is among the first.
func (t *tally) wants(row int64) bool {
	return len(t.examples) < maxExamples || row < t.examples[len(t.examples)-1].row
}

func (t *tally) remember(e example) {
	at, known := slices.BinarySearchFunc(t.examples, e.row, func(e example, row int64) int { return int(e.row - row) })
	if known {
		return
	}
	t.examples = slices.Insert(t.examples, at, e)
	t.examples = t.examples[:min(len(t.examples), maxExamples)]
}

// merge adds the counts of other rows.
func (t *tally) merge(o tally) {
	t.count += o.count
	for _, e := range o.examples {
		if !t.wants(e.row) {
			return
		}
		if len(t.examples) == 0 {
			t.examples = make([]example, 0, maxExamples+1)
		}
		t.remember(e)
	}
}

// firstRow is the first row as people count.
func (t *tally) firstRow() int64 {
	if len(t.examples) == 0 {
		return 0
	}
	return t.examples[0].row + 1
}

// list are the examples as warnings have them.
func (t *tally) list() (list []feedmill.Example) {
	for _, e := range t.examples {
		list = append(list, feedmill.Example{Row: e.row + 1, Value: e.text})
	}
	return list
}

// sample is the beginning of a text, for messages.
func sample(text []byte) string {
	if len(text) <= maxSample {
		return string(text)
	}
	text = text[:maxSample]
	for len(text) > 0 && !utf8.Valid(text) {
		text = text[:len(text)-1]
	}
	return string(bytes.TrimSpace(text)) + "…"
}

// sole is the only text of a column that is nothing else than text, where there is only one.
type sole struct {
	text         string
	any, several bool
}

func (s *sole) add(text []byte) {
	switch {
	case s.several:
	case !s.any:
		s.text, s.any = string(text), true
	case s.text != string(text):
		s.several = true
	}
}

func (s *sole) merge(o sole) {
	if o.any {
		s.add([]byte(o.text))
		s.several = s.several || o.several
	}
}
