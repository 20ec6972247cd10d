package json

import (
	"context"
	"strings"

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
	// hollow says that there are no steps, but an empty array.
	hollow bool
	// listless says that an empty array has the name of a list, so that the
	// document is what stands around no records rather than a record.
	listless bool
}

// locateDepths are how deep the look for an array of objects goes, one after
// the other. What lies deeper is passed over quickly, and most documents need
// no second look.
var locateDepths = []int{1, 3, maxDepth}

// locateRecords finds the records of a document: the elements of the root
// array; else those of the shallowest, and then the longest, array of objects;
// else the root itself is the only one. An array of objects has at least one,
// and besides objects nothing but nulls. Of equals the first counts.
func locateRecords(ctx context.Context, in source) (recordPlace, error) {
	for _, depth := range locateDepths {
		l := &locator{walker: newWalker(in), limit: depth}
		l.sequence, l.interrupted = true, ctx.Err
		switch place, found := l.locate(); {
		case l.err != nil:
			return recordPlace{}, l.err
		case l.fault != nil:
			return recordPlace{}, firstFault(ctx, in, l.fault)
		case found || !l.deeper:
			return place, nil
		}
	}
	return recordPlace{}, nil
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

// locator looks for the best array of objects.
type locator struct {
	*walker
	// limit is how many arrays and objects may stand around an array that
	// counts, and deeper says that there were some in more.
	limit  int
	deeper bool
	open   []locatorFrame

	// noted is about how much memory the names took.
	noted int

	best        []jsonpath.Step
	bestCount   int64
	bestDepth   int
	repeated    bool
	hollow      bool
	listless    bool
	firstObject bool
}

// locatorFrame is an open array or object and the step that leads to it.
type locatorFrame struct {
	step jsonpath.Step
	// objects counts the objects of an array, and others what is neither
	// object nor null.
	objects, others int64
	// array and filled say what it is and whether anything is in it.
	array, filled bool
	names         map[string]struct{}
}

// maxNoted is how much memory names take that are held to see whether one of
// them is repeated. In documents with more it is taken for possible.
const maxNoted = 1 << 20

func (l *locator) locate() (place recordPlace, found bool) {
	for {
		switch l.next() {
		case walkFault:
			return recordPlace{}, false
		case walkValue:
			if len(l.frames) == 0 {
				switch {
				case l.firstObject:
					return recordPlace{sequence: true}, true
				case l.data[l.i] == '[':
					return recordPlace{steps: []jsonpath.Step{jsonpath.AllStep()}}, true
				case l.data[l.i] != '{':
					return recordPlace{}, true
				}
				l.firstObject = true
			}
			if !l.visit() {
				return recordPlace{}, false
			}
		case walkClose:
			l.close()
		case walkEnd:
			if l.best == nil {
				return recordPlace{hollow: l.hollow, listless: l.listless}, false
			}
			return recordPlace{steps: l.best, repeated: l.repeated}, true
		}
	}
}

// visit deals with the value that comes.
func (l *locator) visit() bool {
	l.count()
	switch {
	case !l.container():
		return l.scalar()
	case len(l.frames) > l.limit || l.best != nil && len(l.frames) > l.bestDepth:
		// In here, arrays are too deep.
		l.deeper = true
		_, ok := l.skip(0)
		return ok
	}
	l.open = append(l.open, locatorFrame{step: l.step(), array: l.data[l.i] == '['})
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
	if l.frames[top].object {
		l.noteName(frame)
		return
	}
	switch l.data[l.i] {
	case '{':
		frame.objects++
	case 'n':
	default:
		frame.others++
	}
}

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
	frame, depth := l.open[top], top
	if frame.array && !frame.filled {
		name, _ := frame.step.Name()
		l.hollow, l.listless = true, l.listless || listNames[strings.ToLower(name)]
	}
	if frame.objects > 0 && frame.others == 0 && l.better(depth, frame.objects) {
		l.bestDepth, l.bestCount = depth, frame.objects
		l.best = l.best[:0]
		for _, f := range l.open[1:] {
			l.best = append(l.best, f.step)
		}
		l.best = append(l.best, jsonpath.AllStep())
	}
	l.open = l.open[:top]
}

// listNames are what APIs call the array of their records.
var listNames = map[string]bool{
	"data": true, "items": true, "results": true, "result": true, "records": true, "rows": true, "value": true, "values": true, "list": true,
	"entries": true, "hits": true, "content": true, "elements": true, "objects": true, "nodes": true, "edges": true, "documents": true, "docs": true, "response": true,
}

func (l *locator) better(depth int, count int64) bool {
	return l.best == nil || depth < l.bestDepth || depth == l.bestDepth && count > l.bestCount
}
