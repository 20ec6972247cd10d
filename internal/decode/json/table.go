// Package json reads records of JSON: those of a document, wherever in it they
// are, and those of text with one value in each line.
//
// [Open] finds the records of a document (locate.go), or follows the path to
// them, and [OpenLines] takes them line by line. What is opened is a [Table]: its
// first reading finds the columns (columns.go), and reads the records (record.go)
// in blocks, by several goroutines.
package json

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/share"
)

// Table is data whose records are JSON values.
//
// A record that is an object has a column for each of its members; objects in
// it are flattened, so that {"a":{"b":1}} has the column a.b, and arrays stay
// JSON. So does an empty object, which has no members that could stand for it.
// A column is the way to it: {"a.b":2} is another one, of the same name. A
// record that is no object is the value of the column called value.
//
// The records are read by [Table.Each], as often as needed. The first time finds
// the columns, so they are known after it.
type Table struct {
	columnar.PlainColumns
	source
	lines bool
	// opening is the first byte of the first value.
	opening byte

	// path selects the records in each line, and steps in a document; filter is
	// the last step where it looks at each record.
	path    *jsonpath.Path
	rules   feedmill.Rules
	steps   []jsonpath.Step
	filter  *jsonpath.Step
	explode []explodeStep
	// sequence says that the document is several objects, one after the other.
	sequence bool
	// doubtful says that what is at the path may be a message of the source.
	doubtful   bool
	superseded map[int64]bool
	// oneBlock says that the document is one block, all of which is looked at
	// before any of its records is read, and hoping that superseded is found then.
	oneBlock, hoping bool
	// tree says that the document has to be in memory, because its path cannot
	// be followed otherwise, and inMemory is the document once it is.
	tree     bool
	inMemory *treeBlocks

	// base is the number of the first record, and bytesBefore how many bytes of
	// data those before it have.
	base, bytesBefore int64
	columns           *columnSet
	readers           *readerPool
	// again are those of newBlocks that are free, in later readings.
	again sync.Pool
	// spool has the text where it was not UTF-8, or the table in another shape.
	spool *input.Spool
	// encoding is the one that somebody has set, empty where it is found.
	encoding input.Encoding
	charset  bool // it is the one that was said by the way
	// utf16 is which one the data was found to be, empty where it is none.
	utf16 input.Encoding
	// before is where the records were in the data before this, shaped is where
	// those are that were written as objects, and others are other records.
	before *jsonpath.Path
	fields []string
	shaped []jsonpath.Step
	others []string
	// candidates are all places where they may be.
	candidates []feedmill.RecordCandidate
	// nothing says that the document is null.
	nothing bool
	notes   []feedmill.Warning

	// context says what becomes of the values around the records, which around is, in the columns contextAt. The records are in span,
	// where that is known.
	context   input.Context
	around    input.ContextValues
	contextAt []int
	span      textSpan

	// What the first reading finds.
	whole   bool // it came to its end
	rows    int64
	blocks  []knownBlock
	summary summary
}

// Options say where the records are.
type Options struct {
	// Path is the JSONPath (RFC 9535) of the records. In NDJSON it is
	// applied to each line. Where it is empty they are found: see locateRecords.
	Path string
	// Before is the path at which they were found in the data before this. Fields are the
	// columns that they have, where that path is not known.
	Before string
	Fields []string
	// Explode is the path below the record to an array whose elements become
	// rows, with the other members of the record repeated for each. A record
	// without such elements is one row.
	Explode string
	// Rules is the version of the rules that the records are found by.
	Rules feedmill.Rules
	// Context says what becomes of the values around the records; its Used are JSONPaths.
	Context input.Context
	// Encoding is a name of the WHATWG; empty where the data is UTF-8 or UTF-16, as
	// JSON has to be.
	Encoding string
	Charset  string // of data that was found not to be Unicode
	// Temp is the folder for a temporary file, which data takes that is not UTF-8;
	// empty is that of the system.
	Temp string

	// blockBytes and readBytes are for tests that want many small blocks, and
	// limits are for those that want lower ones.
	blockBytes, readBytes int
	limits                *limits
}

// Open finds the records of a JSON document. It is held to RFC 8259
// strictly, except that objects may follow each other, each of which is then a record:
// NDJSON is often taken for JSON. UTF-16 is written again as UTF-8.
func Open(ctx context.Context, src input.Source, options Options) (*Table, error) {
	return open(options, func(j *Table) error {
		if err := j.read(ctx, src); err != nil {
			return err
		}
		document := j.source
		if err := j.locate(ctx); err != nil {
			return err
		}
		return j.lookAround(ctx, document)
	})
}

// open makes a decoder and has it opened.
func open(options Options, open func(*Table) error) (*Table, error) {
	j, err := newTable(options)
	if err != nil {
		return nil, err
	}
	j.spool = input.NewSpool(options.Temp)
	if err := open(j); err != nil {
		_ = j.Close() // what is lost with it is lost
		return nil, j.refusal(err)
	}
	return j, nil
}

// newTable reads the options.
func newTable(options Options) (*Table, error) {
	options.Context.Used = usedByPages(options.Context.Used)
	j := &Table{fields: options.Fields, context: options.Context, columns: newColumnSet(), readers: new(readerPool), rules: options.Rules, source: source{
		blockBytes: cmp.Or(options.blockBytes, usualBlockBytes),
		readBytes:  cmp.Or(options.readBytes, usualReadBytes),
		limits:     cmp.Or(options.limits, &usual),
	}}
	var err error
	j.encoding, _ = input.EncodingNamed(cmp.Or(options.Encoding, options.Charset))
	j.charset = options.Encoding == ""
	if options.Path != "" {
		if j.path, err = jsonpath.Parse(options.Path); err != nil {
			return nil, invalidParameter("path", "%v", err)
		}
	}
	if options.Path == "" && options.Before != "" {
		if j.before, err = jsonpath.Parse(options.Before); err != nil {
			j.before = nil // it is of another format
			err = nil
		}
	}
	if options.Explode != "" {
		if j.explode, err = parseExplode(options.Explode); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Close removes the temporary file where there is one.
func (j *Table) Close() error { return j.spool.Close() }

// refuseBlank returns ErrNoData where there is nothing but blanks.
func (j *Table) refuseBlank() error {
	w := newWalker(j.source)
	w.readBytes = min(w.readBytes, 512)
	if !w.blanks() {
		return w.err
	}
	if w.i >= w.size {
		return input.ErrNoData
	}
	j.opening = w.data[w.i]
	return nil
}

// locate finds where the records are in a document.
func (j *Table) locate(ctx context.Context) error {
	if j.path == nil {
		place, err := locateRecords(ctx, j.source, wanted{rules: j.rules, path: j.expected(), fields: j.fields})
		if err != nil {
			return err
		}
		if j.before != nil && jsonpath.Text(place.steps) != j.before.String() {
			return j.stay(ctx, place)
		}
		if place.list != nil {
			place.steps = place.list
		}
		return j.settle(ctx, place)
	}
	steps, ok := j.path.Steps()
	if !ok {
		j.tree = true
		var err error
		j.inMemory, err = j.readTree(ctx)
		return err
	}
	j.sequence = true
	steps = j.elements(ctx, steps)
	if last := len(steps) - 1; last >= 0 && steps[last].Filters() {
		j.filter = &steps[last]
	}
	if settled, err := j.settleAt(ctx, steps); settled || err != nil {
		return err
	}
	return j.follow(ctx, steps)
}

// expected is the path at which the records were before.
func (j *Table) expected() string {
	if j.before == nil {
		return ""
	}
	return j.before.String()
}

// settle makes the records those of a place that was found.
func (j *Table) settle(ctx context.Context, place recordPlace) (err error) {
	j.span = place.span
	j.candidates = append(j.candidates, place.candidates...)
	if place.shape == shapeColumns && j.explode != nil {
		place = recordPlace{repeated: place.repeated} // one of the arrays is to be rows
	}
	if place.shape != shapeObjects {
		if reshaped, err := j.reshape(ctx, place); reshaped || err != nil {
			return err
		}
		switch {
		case place.columns != nil:
			return j.settle(ctx, recordPlace{steps: place.columns, shape: shapeColumns, repeated: place.repeated})
		case place.shape != shapeArrays:
			place.steps = nil
		}
	}
	j.steps, j.sequence, j.others, j.nothing = place.steps, place.sequence, place.others, place.nothing
	if place.repeated {
		j.superseded, err = locateSuperseded(ctx, j.source, j.steps)
	}
	return err
}

// stay makes the records those of the path at which they were in the data before,
// although something else speaks for others: a list that is empty today is no
// reason to take something else for it.
func (j *Table) stay(ctx context.Context, place recordPlace) error {
	steps, ok := j.before.Steps()
	if !ok {
		return j.settle(ctx, place)
	}
	if last := len(steps) - 1; last >= 0 && !j.has(steps[:last]) {
		return input.Refuse("records-moved", "the feed reads records at %s, but the data has nothing there; set path to where the records are", j.before)
	}
	if err := j.wantList(ctx, steps, false); err != nil {
		return err
	}
	j.sequence = true
	return j.follow(ctx, steps)
}

// follow makes the records those that the steps lead to.
func (j *Table) follow(ctx context.Context, steps []jsonpath.Step) error {
	j.steps = steps
	for i := range steps {
		if _, named := steps[i].Name(); named {
			if j.hoping = j.oneBlock; j.hoping {
				j.superseded = make(map[int64]bool)
				return nil
			}
			var err error
			j.superseded, err = locateSuperseded(ctx, j.source, steps)
			return err
		}
	}
	return nil
}

// readTree reads the whole document into memory and selects the records.
func (j *Table) readTree(ctx context.Context) (*treeBlocks, error) {
	size := j.src.Size() - j.start
	if size > int64(j.limits.tree) {
		return nil, input.Refuse("document-too-large", "the path %s requires the whole document in memory, and the document is larger than %d bytes; "+
			"use a path without .., lists of selectors or negative indexes, and with filters only at its end", j.path, j.limits.tree)
	}
	t := &lexer{data: make([]byte, size+textPadding), size: int(size), base: j.start, maxField: j.limits.field}
	if err := input.ReadFull(j.src, t.data[:size], j.start); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	tree := new(jsonpath.Tree)
	tree.Limit(j.limits.nodes())
	end := t.tree(tree, t.space(0), 0)
	if end >= 0 {
		if end = t.space(end); end < t.size {
			end = t.fail(end, "unexpected data after the value; this path requires a document with one value")
		}
	}
	if end < 0 {
		return nil, t.fault
	}
	nodes, err := j.path.Select(jsonpath.NewWork(ctx, size), tree)
	if errors.Is(err, jsonpath.ErrTooMuchWork) {
		return nil, input.Refuse("path-too-costly", "%v: %s", err, j.path)
	}
	if err != nil {
		return nil, err
	}
	if err := j.checkSelected(tree, nodes, size); err != nil {
		return nil, err
	}
	return &treeBlocks{data: t.data[:size], tree: tree, nodes: nodes, in: j.source}, nil
}

// maxRepeats is how many times a document of any size can be selected over again,
// by a path whose values stand in each other.
const maxRepeats = 16

// checkSelected refuses values that stand in each other so often that they are
// much more than the document.
func (j *Table) checkSelected(tree *jsonpath.Tree, nodes []jsonpath.Node, size int64) error {
	selected := int64(0)
	for _, node := range nodes {
		start, end := tree.Range(node)
		selected += int64(end - start)
	}
	if most := maxRepeats * (size + 1<<20); selected > most {
		return input.Refuse("path-too-costly", "the path %s selects %d bytes from a document of %d because its values are nested; select only the records", j.path, selected, size)
	}
	return nil
}

// newBlocks begins a reading of the data.
func (j *Table) newBlocks(ctx context.Context) (blockSource, error) {
	large := func() error { return share.Large(ctx) }
	switch {
	case j.lines:
		return &lineBlocks{source: j.source, large: large}, nil
	case j.inMemory != nil:
		blocks := *j.inMemory
		return &blocks, nil
	case j.tree:
		return j.readTree(ctx)
	}
	b := newDocumentBlocks(j.source, j.steps, j.sequence, j.superseded)
	b.hoping, b.large = j.hoping && !j.whole, large
	return b, nil
}

// refusal is an error as the client sees it.
func (j *Table) refusal(err error) error {
	if fault, ok := errors.AsType[*dataFault](err); ok {
		return fault.refusal(j.src)
	}
	return err
}

// Names are what the data calls the columns, in the order in which they first
// appear. They are all known after the first reading.
func (j *Table) Names() []string { return j.columns.list() }

// Rows is how many records there are. It is known after the first reading.
func (j *Table) Rows() int64 { return j.rows }

// invalidParameter is the refusal of a parameter of the request.
func invalidParameter(name, format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	return feedmill.Invalid(detail, feedmill.Fault{Parameter: name, Detail: detail})
}
