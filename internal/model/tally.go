package model

import (
	"bytes"
	"unicode/utf8"
)

// tally counts something and remembers where it was first.
type tally struct {
	count int64
	first int64 // number of the row, from 0
	// sample is the beginning of the first value.
	sample string
}

// maxSample is how much of a value is remembered.
const maxSample = 40

// add counts the value of a row. Rows come in any order.
func (t *tally) add(row int64, text []byte) {
	if t.count == 0 || row < t.first {
		t.first = row
		t.sample = sample(text)
	}
	t.count++
}

// merge adds the counts of other rows.
func (t *tally) merge(o tally) {
	if o.count == 0 {
		return
	}
	if t.count == 0 || o.first < t.first {
		t.first, t.sample = o.first, o.sample
	}
	t.count += o.count
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
