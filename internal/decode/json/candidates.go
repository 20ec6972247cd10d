package json

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// fieldBytes is how much of a candidate is looked at for the names of its fields.
const fieldBytes = 64 << 10

// unknownCount is the count of records that are not counted before they are read.
const unknownCount = -1

// candidates are the places where the records may be, the one that was chosen first and
// then those with the most bytes.
func (l *locator) candidates(place *recordPlace) []feedmill.RecordCandidate {
	type listed struct {
		path  []jsonpath.Step
		count int64
		bytes int64
		// start is where the value is whose fields are told, so many levels in it.
		start  int64
		levels int
	}
	var all []listed
	for i := range l.found {
		c := &l.found[i]
		if c.invoice {
			owner := c.path[:len(c.path)-1]
			if !slices.ContainsFunc(all, func(o listed) bool { return jsonpath.Text(o.path) == jsonpath.Text(owner) }) {
				all = append(all, listed{path: owner, count: 1, start: c.around})
			}
		}
		all = append(all, listed{c.members(), c.count, c.bytes, c.start, 1})
	}
	for i := range l.columns {
		if c := &l.columns[i]; c.count > 1 {
			all = append(all, listed{c.members(), c.count, c.bytes, c.start, 0})
		}
	}
	if l.keyed.count > 0 {
		all = append(all, listed{l.keyed.members(), l.keyed.count, l.keyed.bytes, l.keyed.start, 1})
	}
	switch {
	case place.sequence || place.nothing:
		return nil
	case len(all) == 0 && len(place.steps) == 0: // the document is the record
		all = append(all, listed{nil, 1, 0, l.start, 0})
	case len(all) == 0: // the document is an array, which has not been read
		all = append(all, listed{place.steps, unknownCount, 0, l.start, 1})
	}
	chosen := jsonpath.Text(place.steps)
	isChosen := func(c listed) bool { return jsonpath.Text(c.path) == chosen }
	slices.SortStableFunc(all, func(a, b listed) int {
		switch {
		case isChosen(a):
			return -1
		case isChosen(b):
			return 1
		}
		return cmp.Compare(b.bytes, a.bytes)
	})
	var out []feedmill.RecordCandidate
	for _, c := range all[:min(len(all), feedmill.MaxCandidates)] {
		out = append(out, feedmill.RecordCandidate{Path: jsonpath.Text(c.path), Count: c.count, Fields: fieldsAt(l.src, c.start, c.levels)})
	}
	return out
}

// fieldsAt are the names of the members of the object at a place, or of the first object so
// many levels in it. An array of texts there is a header.
func fieldsAt(src input.Source, start int64, levels int) []string {
	names := []string{}
	in := jsontext.NewDecoder(io.NewSectionReader(src, start, fieldBytes), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	// Whatever ends it, what was found until then is told.
	for range levels {
		token, err := in.ReadToken()
		if err != nil {
			return names
		}
		if token.Kind() == '{' {
			if _, err := in.ReadToken(); err != nil {
				return names
			}
		}
	}
	object := in.PeekKind() == '{'
	_, err := in.ReadToken()
	for err == nil && len(names) < feedmill.MaxCandidateFields && in.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = in.ReadToken(); err != nil {
			break
		}
		names = append(names, name.String())
		if object {
			err = in.SkipValue()
		}
	}
	return names
}

// counted is candidates with how many records were read of the first, where that was not
// known before.
func counted(all []feedmill.RecordCandidate, rows int64) []feedmill.RecordCandidate {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Count == unknownCount {
			all[i].Count = rows
		}
	}
	return all
}

// maxBesides is how large a document may be that is read once more for the places that a path
// has not taken.
const maxBesides = 32 << 20

// besides are the places where the records may be besides the path that was set, which is
// first: one who has taken a path may want another.
func (j *Table) besides() []feedmill.RecordCandidate {
	if j.lines || j.src.Size() > maxBesides {
		return nil
	}
	set := feedmill.RecordCandidate{Path: j.path.String(), Count: j.rows, Fields: j.Names()}
	set.Fields = set.Fields[:min(len(set.Fields), feedmill.MaxCandidateFields)]
	place, err := locateRecords(context.Background(), j.source, wanted{rules: j.rules})
	if err != nil { // what the path leads to was read, and that is what counts
		return []feedmill.RecordCandidate{set}
	}
	others := slices.DeleteFunc(counted(place.candidates, j.rows), func(c feedmill.RecordCandidate) bool {
		same := c.Path == set.Path || c.Path == set.Path+"[*]"
		if same {
			set = c
		}
		return same
	})
	return append([]feedmill.RecordCandidate{set}, others[:min(len(others), feedmill.MaxCandidates-1)]...)
}

// has reports whether the document has a value at the end of steps.
func (j *Table) has(steps []jsonpath.Step) bool {
	b := newDocumentBlocks(j.source, steps, true, nil)
	found, err := b.claim(&block{})
	return found || err != nil
}

// markNames marks the arrays that describe the columns of rows beside them.
func (l *locator) markNames() {
	for _, rows := range l.found {
		for i := range l.found {
			c := &l.found[i]
			last := len(c.path) - 1
			if !rows.arrays || c.arrays || last < 0 || len(rows.path) != len(c.path) || jsonpath.Text(rows.path[:last]) != jsonpath.Text(c.path[:last]) {
				continue
			}
			switch name, _ := c.path[last].Name(); strings.ToLower(name) {
			case "columns", "cols", "fields", "header", "headers", "columnheaders":
				c.names = true
			}
		}
	}
}

// sideCar reports whether the array is of what stands beside records.
func (c *candidate) sideCar() bool {
	if c.names {
		return true
	}
	for _, step := range c.path[max(0, len(c.path)-2):] {
		name, _ := step.Name()
		switch strings.ToLower(name) {
		case "error", "errors", "link", "links", "_links", "included", "facet", "facets", "warnings", "schema", "aggregations":
			return true
		}
	}
	return false
}
