package json

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// settleAt makes the records the rows of a table in another shape, where that is what all
// values at a path are: so a path that was found means the same when a user sets it. It
// reports false where the values themselves are the records.
func (j *Table) settleAt(ctx context.Context, steps []jsonpath.Step) (bool, error) {
	place, ok, err := j.shapedAt(ctx, steps)
	if !ok || err != nil {
		return false, err
	}
	if place.shape == shapeColumns {
		return true, j.settle(ctx, place)
	}
	return j.reshape(ctx, place)
}

// shapedAt is the table in another shape at a path. The first rules know columns alone there.
func (j *Table) shapedAt(ctx context.Context, steps []jsonpath.Step) (recordPlace, bool, error) {
	last := len(steps) - 1
	if last < 0 || !steps[last].All() || j.explode != nil || j.rules == feedmill.RulesOriginal || !j.shapeBegins(steps[:last]) {
		return recordPlace{}, false, nil
	}
	place, err := locateRecords(ctx, j.source, wanted{rules: j.rules, path: jsonpath.Text(steps), set: true})
	if err != nil || place.shape == shapeObjects || place.shape != shapeColumns && j.rules <= feedmill.RulesFirst {
		return recordPlace{}, false, err
	}
	return place, true, nil
}

// shapeBegins reports whether steps lead to a value that may be a table in another shape: an
// array that begins with an array, or an object that begins with an array or an object. It
// reads as little as it can: most paths lead to an array of records.
func (j *Table) shapeBegins(steps []jsonpath.Step) bool {
	w := newWalker(j.source)
	w.readBytes = 4 << 10
	if w.next() != walkValue {
		return false
	}
	for i := range steps {
		name, named := steps[i].Name()
		if !w.container() || (w.data[w.i] == '{') != named || !w.enter() {
			return false
		}
		for at := int64(0); ; at++ {
			if w.next() != walkValue {
				return false
			}
			if named && string(w.name) == name || !named && steps[i].Element(at) {
				break
			}
			if _, ok := w.skip(0); !ok {
				return false
			}
		}
	}
	if !w.container() {
		return false
	}
	object := w.data[w.i] == '{'
	if !w.enter() {
		return false
	}
	for w.next() == walkValue {
		switch w.data[w.i] {
		case 'n':
			if !w.scalar() {
				return false
			}
			continue
		case '[':
			return true
		case '{':
			return object && j.rules > feedmill.RulesFirst
		}
		// What is beside columns may be before them.
		if !object || !w.scalar() {
			return false
		}
	}
	return false
}

// isKeyed reports whether an object of objects is the one to remember: the largest of several,
// or the one at the path that the user has set, however many it has.
func (l *locator) isKeyed(frame *locatorFrame, c *candidate) bool {
	c.path = l.path()
	if l.wanted.set {
		return jsonpath.Text(c.members()) == l.wanted.path
	}
	return frame.objects > 1 && c.bytes > l.keyed.bytes
}

// placeWanted is the table at the path that the user has set, in any shape. A path to
// anything else is followed as it is.
func (l *locator) placeWanted() recordPlace {
	if c := l.expectedColumns(); c != nil {
		place := l.columnsPlace(c)
		place.others = nil // the user has chosen
		return place
	}
	if l.keyed.count > 0 {
		return recordPlace{steps: l.keyed.members(), shape: shapeKeyed}
	}
	for i := range l.found {
		if c := &l.found[i]; c.arrays && jsonpath.Text(c.members()) == l.wanted.path {
			return recordPlace{steps: c.members(), shape: shapeArrays}
		}
	}
	return recordPlace{}
}
