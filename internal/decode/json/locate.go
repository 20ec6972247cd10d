package json

import (
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// recordPlace is where the records of a document are.
type recordPlace struct {
	// steps lead to the records.
	steps []jsonpath.Step
	// sequence says that the document is several objects, one after the
	// other, each of which is a record.
	sequence bool
	// repeated says that a name may stand twice in an object on the way.
	repeated bool
	// shape says that the records are not written as such, and have to be.
	shape tableShape
	// others are the paths of other records.
	others []string
	// hollow says that there are no steps, but an empty array.
	hollow bool
	// list leads to the records that there would be: an empty array has the name of
	// a list, so that the document is what stands around no records rather than a
	// record. It is nil where there is none.
	list []jsonpath.Step
	// columns leads to the members of an object that are columns, for where an object
	// of objects turns out to be no table.
	columns []jsonpath.Step
	// nothing says that the document is null.
	nothing bool
	// candidates are all places where records may be, this one first.
	candidates []feedmill.RecordCandidate
	// span is where what holds the records is, where that is known.
	span textSpan
}

// locateRecords finds the records of a document: the elements of the root array;
// else those of the array of objects that is the most bytes, but the object around
// a short one where that has an id and more values of its own; else the rows of a
// table in another shape; else the root itself is the only one. What stands beside
// records, such as errors and links, counts only where there is nothing else. Expected
// names the path that they had before or that the user has set.
func locateRecords(ctx context.Context, in source, expected wanted) (recordPlace, error) {
	l := &locator{walker: newWalker(in), wanted: expected}
	l.sequence, l.interrupted = true, ctx.Err
	place := l.locate()
	switch {
	case l.err != nil:
		return recordPlace{}, l.err
	case l.fault != nil:
		return recordPlace{}, firstFault(ctx, in, l.fault)
	}
	place.candidates = l.candidates(&place)
	return place, nil
}

// wanted is what is known of the records before they are located.
type wanted struct {
	rules feedmill.Rules
	// path is where they were before, empty where there were none. With set it is where they
	// are, because the user has set it.
	path string
	set  bool
	// fields are the columns of the feed, where nothing but them is known of its records.
	fields []string
}

// firstFault looks closely at a document that has a fault, because what was
// passed over before it may have one, too.
func firstFault(ctx context.Context, in source, fault *dataFault) error {
	nowhere := []jsonpath.Step{jsonpath.IndexStep(-1)}
	b := newDocumentBlocks(in, nowhere, true, nil)
	b.interrupted = ctx.Err
	if _, err := b.claim(&block{}); err != nil {
		return err
	}
	return fault
}

// locator looks for records.
type locator struct {
	*walker
	open []locatorFrame

	// noted is about how much memory the names took.
	noted int

	// found are the arrays that may hold the records, and keyed is the largest object
	// of objects.
	found       []candidate
	keyed       candidate
	repeated    bool
	hollow      bool
	firstObject bool
	// lists are the paths of empty arrays that have the name of a list.
	lists [][]jsonpath.Step
	// columns are objects of columns.
	columns []candidate
	wanted  wanted
}

// candidate is an array or object that may hold the records.
type candidate struct {
	// path leads to it.
	path  []jsonpath.Step
	bytes int64
	count int64
	// start is where it begins, and around where the object around it does.
	start, around int64
	// arrays says that its elements are arrays, and invoice that the object
	// around it has values of its own and an id.
	arrays, invoice bool
	// names says that it describes the columns of rows beside it.
	names bool
}

// locatorFrame is an open array or object and the step that leads to it.
type locatorFrame struct {
	step  jsonpath.Step
	start int64
	// objects and arrays count what is in it, and others what is neither object
	// nor array nor null; id says that one of those has that name.
	objects, arrays, others int64
	id                      bool
	// array and filled say what it is and whether anything is in it, and deep that
	// the arrays in it have others in them.
	array, filled, deep bool
	names               map[string]struct{}
	// found and lists are how many candidates and empty lists there were when it
	// was opened.
	found, lists int
	columnCount
}

// maxLists is how many empty lists are remembered.
const maxLists = 16

// maxNoted is how much memory names take that are held to see whether one of
// them is repeated. In documents with more it is taken for possible.
const maxNoted = 1 << 20

func (l *locator) locate() recordPlace {
	for {
		switch l.next() {
		case walkFault:
			return recordPlace{}
		case walkValue:
			if len(l.frames) == 0 {
				switch {
				case l.firstObject:
					return recordPlace{sequence: true}
				case l.data[l.i] == '[':
					return l.rootArray()
				case l.data[l.i] == 'n':
					// Programs write null where they have no list.
					return l.nothing()
				case l.data[l.i] != '{':
					return recordPlace{}
				}
				l.firstObject = true
			}
			if !l.visit() {
				return recordPlace{}
			}
		case walkClose:
			l.close()
		case walkEnd:
			return l.choose()
		}
	}
}

// rootArray is the place of the elements of the root.
func (l *locator) rootArray() recordPlace {
	place := recordPlace{steps: []jsonpath.Step{jsonpath.AllStep()}}
	if l.enter() && l.next() == walkValue && l.data[l.i] == '[' && !l.nests() && l.wanted.rules != feedmill.RulesOriginal {
		place.shape = shapeArrays
	}
	l.fault = nil // it is met again when the records are read
	return place
}

// nests reports whether the first value in the array that comes is one of several
// values itself.
func (l *locator) nests() bool {
	i := l.space(l.i + 1)
	return i < l.size && (l.data[i] == '[' || l.data[i] == '{')
}

// visit deals with the value that comes.
func (l *locator) visit() bool {
	l.count()
	top := len(l.frames) - 1
	switch {
	case !l.container():
		return l.scalar()
	case top >= 0 && l.open[top].array && !(l.data[l.i] == '[' && l.nests()):
		// What is in the elements of an array is part of the records.
		_, ok := l.skip(0)
		return ok
	}
	l.open = append(l.open, locatorFrame{step: l.step(), start: l.base + int64(l.i), array: l.data[l.i] == '[', found: len(l.found), lists: len(l.lists)})
	return l.enter()
}

// count notes the value that comes in what is around it.
func (l *locator) count() {
	top := len(l.frames) - 1
	if top < 0 {
		return
	}
	frame := &l.open[top]
	frame.filled = true
	frame.length++
	if l.frames[top].object {
		l.noteName(frame)
	}
	switch l.data[l.i] {
	case '{':
		frame.objects++
	case '[':
		frame.arrays++
		frame.deep = frame.deep || l.nests()
	case 'n':
		l.noteNull(top)
	default:
		frame.others++
		frame.id = frame.id || l.frames[top].object && isID(l.name)
	}
}

func isID(name []byte) bool { return len(name) == 2 && name[0]|0x20 == 'i' && name[1]|0x20 == 'd' }

// step leads to the value that comes, from what is around it.
func (l *locator) step() jsonpath.Step {
	top := len(l.frames) - 1
	switch {
	case top < 0:
		return jsonpath.Step{}
	case l.frames[top].object:
		return jsonpath.NameStep(string(l.name))
	}
	return jsonpath.IndexStep(l.frames[top].count - 1)
}

func (l *locator) noteName(frame *locatorFrame) {
	if l.noted += len(l.name) + 64; l.noted > maxNoted {
		l.repeated = true
	}
	if l.repeated {
		return
	}
	if frame.names == nil {
		frame.names = make(map[string]struct{})
	}
	before := len(frame.names)
	frame.names[string(l.name)] = struct{}{}
	l.repeated = len(frame.names) == before
}

// close looks at what has just ended.
func (l *locator) close() {
	top := len(l.open) - 1
	frame := &l.open[top]
	c := candidate{bytes: l.base + int64(l.i) - frame.start, count: frame.objects + frame.arrays, start: frame.start, around: l.open[max(top-1, 0)].start}
	if frame.array && !frame.filled {
		l.hollow = true
		if name, _ := frame.step.Name(); listNames[strings.ToLower(name)] && len(l.lists) < maxLists {
			l.lists = append(l.lists, append(l.path(), jsonpath.AllStep()))
		}
	}
	switch {
	case frame.array && frame.others == 0 && !frame.deep && (frame.objects > 0) != (frame.arrays > 0):
		c.path, c.arrays = l.path(), frame.arrays > 0
		l.found = append(l.found, c)
	case frame.array:
	case frame.objects > 0 && frame.arrays+frame.others == 0 && l.isKeyed(frame, &c):
		l.keyed = c
	}
	l.closeColumns(frame, c.bytes)
	if !frame.array && frame.id && frame.others > 2 {
		for i := frame.found; i < len(l.found); i++ {
			if len(l.found[i].path) == top+1 {
				l.found[i].invoice = true
			}
		}
		// An invoice without lines is an invoice.
		kept := l.lists[:frame.lists]
		for _, list := range l.lists[frame.lists:] {
			if len(list) != top+2 {
				kept = append(kept, list)
			}
		}
		l.lists = kept
	}
	l.open = l.open[:top]
}

// path leads to the innermost array or object that is open.
func (l *locator) path() (path []jsonpath.Step) {
	for _, f := range l.open[1:] {
		path = append(path, f.step)
	}
	return path
}

// fewElements is how many elements an array can have and still be a part of the
// object around it, as the lines are of an invoice.
const fewElements = 100

// choose picks the records.
func (l *locator) choose() recordPlace {
	place := recordPlace{repeated: l.repeated}
	if l.wanted.set {
		return l.placeWanted()
	}
	if l.wanted.rules == feedmill.RulesOriginal {
		return l.shallowest()
	}
	if c := l.expectedColumns(); c != nil {
		return l.columnsPlace(c)
	}
	l.markNames()
	columns := l.largestColumns()
	best := -1
	for i := range l.found {
		if best < 0 || l.found[best].sideCar() && !l.found[i].sideCar() || l.found[best].sideCar() == l.found[i].sideCar() && l.found[i].bytes > l.found[best].bytes {
			best = i
		}
	}
	switch {
	case best >= 0:
	case l.keyed.count > 0:
		place.steps, place.shape, place.span = append(l.keyed.path, jsonpath.AllStep()), shapeKeyed, l.keyed.span()
		if columns != nil {
			place.columns = columns.members()
		}
		return place
	case columns != nil:
		return l.columnsPlace(columns)
	default:
		place = recordPlace{hollow: l.hollow}
		if len(l.lists) > 0 {
			place.list = l.lists[0]
		}
		return place
	}
	c := &l.found[best]
	if columns != nil && l.wanted.rules > feedmill.RulesFirst && columns.outweighs(c, l.base+int64(l.i)) {
		place = l.columnsPlace(columns)
		place.other(c)
		return place
	}
	place.steps, place.span = c.members(), c.span()
	if c.arrays {
		place.shape = shapeArrays
	}
	if c.invoice && c.count < fewElements && !c.arrays {
		place.steps, place.span = c.path[:len(c.path)-1], textSpan{}
		return place
	}
	for i := range l.found {
		if other := &l.found[i]; i != best && (l.wanted.rules > feedmill.RulesFirst && !other.names || !other.sideCar()) && c.rivals(other) {
			place.other(other)
		}
	}
	if columns != nil && columns.bytes > c.bytes {
		place.other(columns)
	}
	return place
}

// rivals reports whether another array may be what is wanted. Arrays of arrays beside
// records are often coordinates, and are told of where they are more than those are.
func (c *candidate) rivals(other *candidate) bool {
	return c.arrays == other.arrays || other.arrays && other.bytes > c.bytes
}

// other notes the path of other records.
func (p *recordPlace) other(c *candidate) {
	path := jsonpath.Text(c.members())
	if path != jsonpath.Text(p.steps) && !slices.Contains(p.others, path) {
		p.others = append(p.others, path)
	}
}

// span is where it is in the document.
func (c *candidate) span() textSpan { return textSpan{c.start, c.start + c.bytes} }

// members lead to what is in a candidate.
func (c *candidate) members() []jsonpath.Step {
	return append(c.path[:len(c.path):len(c.path)], jsonpath.AllStep())
}
