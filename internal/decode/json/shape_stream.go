package json

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/jstext"
)

// maxBeside is how long what stands beside the rows of a document can be that is not
// held.
const maxBeside = 8 << 20

// streamed returns what writes the rows of a document that is too large to be held: they
// are gone through once to see what they are, and once more to be written. It is nil
// where they are no table, or none that can be written row by row.
func (t *reshaper) streamed(in source, place recordPlace) func() {
	if place.shape == shapeColumns {
		t.unheld = true // its first row ends with the document
		return nil
	}
	around := []byte("{")
	beside := func(name string, raw []byte) {
		if len(around) > 1 {
			around = append(around, ',')
		}
		around = append(append(jstext.AppendString(around, name), ':'), raw...)
	}
	each := func(fn func(name []byte, start, end int) bool) bool {
		r := &rowStream{walker: newWalker(in), steps: place.steps, beside: beside}
		r.interrupted = t.ctx.Err
		r.row = func(name []byte, start int) bool {
			t.data, t.size = r.data, r.i
			return fn(name, start, r.i)
		}
		done := r.next() == walkValue && r.descend(0)
		if r.err != nil && t.fault == nil {
			t.fault = r.err
		}
		// A row, or what stands beside them, is too long, or there are rows twice.
		t.unheld = t.unheld || r.fault != nil || r.twice
		beside = nil // it is known after the first time
		return done
	}
	if place.shape == shapeKeyed {
		return t.keyed(each, false)
	}
	held := &reshaper{}
	first := true
	return t.arrays(func(fn func(name []byte, start, end int) bool) bool {
		done := each(fn)
		if first {
			around = append(around, '}')
			held.size = len(around)
			held.data = append(around, make([]byte, textPadding)...)
			first = false
		}
		return done
	}, held, 0)
}

// rowStream goes through the rows of a document, one after the other.
type rowStream struct {
	*walker
	steps []jsonpath.Step
	// row is called with each row, and its name in quotes where it has one, until it
	// returns false; the row ends where the walker is. Beside is called with what stands
	// beside the rows and may name the columns.
	row    func(name []byte, start int) bool
	beside func(name string, raw []byte)
	// twice says that a name on the way stands in its object again, which is not gone
	// on with: the last one counts, and it is known too late that it was not the last.
	twice bool
}

// descend goes into the value that comes, which is so many steps on the way. It reports
// whether all rows were visited.
func (r *rowStream) descend(depth int) bool {
	if depth == len(r.steps)-1 {
		return r.rows()
	}
	if !r.container() || !r.enter() {
		return false
	}
	inside, found := len(r.frames)-1, false
	for {
		switch r.next() {
		case walkClose:
			return found
		case walkValue:
		default:
			return false
		}
		frame := r.frames[inside]
		name, named := r.steps[depth].Name()
		switch {
		case named && frame.object && string(r.name) == name, !named && !frame.object && r.steps[depth].Element(frame.count-1):
			if r.twice = found; r.twice {
				return false
			}
			if found = r.descend(depth + 1); !found {
				return false
			}
		case r.beside != nil && depth == len(r.steps)-2 && frame.object && besideRows(string(r.name)):
			name := string(r.name)
			start, ok := r.skip(maxBeside)
			if !ok {
				return false
			}
			r.beside(name, r.data[start:r.i])
		default:
			if _, ok := r.skip(0); !ok {
				return false
			}
		}
	}
}

// rows goes through the rows, which are in the value that comes.
func (r *rowStream) rows() bool {
	if !r.container() || !r.enter() {
		return false
	}
	var name []byte
	for {
		switch r.next() {
		case walkClose:
			return true
		case walkValue:
		default:
			return false
		}
		if r.frames[len(r.frames)-1].object {
			name = jstext.AppendString(name[:0], string(r.name))
		}
		start, ok := r.skip(r.limits.record)
		if !ok || !r.row(name, start) {
			return false
		}
	}
}

// besideRows reports whether what has the name can say what the columns of rows beside
// it are called, or the rows.
func besideRows(name string) bool {
	name = strings.ToLower(name)
	return name == indexName || slices.Contains(columnLists, name)
}
