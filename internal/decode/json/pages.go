package json

import (
	"context"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Pages is what the pages of one table have in common. They share their columns,
// so that no cell has to change its place, and the readers, so that a name that
// one page has is known in the next.
type Pages struct {
	spool   *input.Spool
	list    bool
	path    *jsonpath.Path
	rules   feedmill.Rules
	before  *jsonpath.Path
	fields  []string
	explode []explodeStep
	columns *columnSet
	readers *readerPool
	rows    int64

	// place is where the records are in the first page that has any, and
	// opening the first byte of that page.
	place   *recordPlace
	opening byte
	// firstRows is how many records that page has.
	firstRows int64
	// besides are the places of the first page that a path has not taken.
	besides []feedmill.RecordCandidate
	// superseded counts those of all pages.
	superseded int
	encoding   input.Encoding
	context    input.Context
	// utf16 is which one the first page was found to be.
	utf16 input.Encoding
}

// NewPages begins a table. Pages that are not UTF-8 are written again to the
// spool. Without a path the records of all pages are where those of the first page
// are that has any; list says that the pages are parts of a list, so that an object
// with an empty array and no array of objects is a page without records, and no
// record itself. So is one whose empty array has the name of a list, such as items.
func NewPages(options Options, list bool, spool *input.Spool) (*Pages, error) {
	parsed, err := newTable(options)
	if err != nil {
		return nil, err
	}
	return &Pages{spool: spool, list: list, path: parsed.path, rules: parsed.rules, before: parsed.before, fields: parsed.fields, explode: parsed.explode, columns: newColumnSet(), readers: new(readerPool), encoding: parsed.encoding, context: parsed.context}, nil
}

// Names are what the pages call the columns, in the order in which they first
// appear.
func (p *Pages) Names() []string {
	names := p.columns.list()
	if len(names) == 0 && p.rows > 0 {
		return []string{valueName}
	}
	return names
}

// Width is how many columns the table has.
func (p *Pages) Width() int { return p.columns.count() }

// Column is the first column of a name, or -1.
func (p *Pages) Column(name string) int { return p.columns.index(name) }

// Found is where the records of the first page are that has any.
func (p *Pages) Found() (f feedmill.Findings) {
	switch {
	case p.path != nil:
		f.Path, f.Candidates = pathFinding(p.path, nil, false), p.besides
	case p.place != nil:
		f.Path = pathFinding(nil, p.place.steps, false)
		if p.explode == nil {
			f.Candidates = counted(p.place.candidates, p.firstRows)
		}
	case p.before != nil:
		f.Path = feedmill.Found(p.before.String(), true)
	}
	if p.utf16 != "" {
		f.Encoding = feedmill.Found(string(p.utf16), true)
	}
	if p.encoding != "" {
		f.Encoding = feedmill.Finding{Value: string(p.encoding), By: feedmill.BySet}
	}
	return f
}

// Page is a page that was read.
type Page struct{ *Table }

// Blocks is how many parts the page can be read in. One that is followed in memory
// is one part, so that it is not read into memory more than once.
func (p Page) Blocks() int {
	if p.tree {
		return min(p.Table.Blocks(), 1)
	}
	return p.Table.Blocks()
}

// Read gives the records of the blocks [from, to) to fn, in order.
func (p Page) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	if p.tree {
		to = p.Table.Blocks()
	}
	return p.Table.Read(ctx, from, to, fn)
}

// minPageBlock is the least that a goroutine reads of a page in one go.
const minPageBlock = 64 << 10

// Add reads a page whose first record has the number first and before which there
// are so many bytes in other pages, and gives its records to each. With lines set it is
// NDJSON.
func (p *Pages) Add(ctx context.Context, data input.Source, lines bool, first, before int64, each func(*columnar.Cells) error) (Page, []feedmill.Warning, error) {
	workers := input.PageWorkers(data)
	j, err := p.open(ctx, data, lines, first, before)
	if err != nil {
		return Page{}, nil, err
	}
	if j.oneBlock {
		workers = 1
	}
	if err := j.readBlocks(ctx, workers, each); err != nil {
		return Page{}, nil, err
	}
	if err := p.count(j); err != nil {
		return Page{}, nil, err
	}
	if p.rows == 0 && j.rows > 0 {
		p.utf16 = j.utf16
	}
	if p.rows += j.rows; p.firstRows == 0 {
		p.firstRows = j.rows
		if p.path != nil && p.explode == nil && j.rows > 0 {
			p.besides = j.besides()
		}
	}
	warnings, err := j.Warnings()
	j.inMemory, j.summary = nil, summary{}
	return Page{j}, warnings, err
}

// open finds the records of a page.
func (p *Pages) open(ctx context.Context, data input.Source, lines bool, first, before int64) (*Table, error) {
	workers := input.PageWorkers(data)
	j := &Table{
		source: source{
			blockBytes: int(min(max(data.Size()/int64(2*workers), minPageBlock), usualBlockBytes)),
			readBytes:  usualReadBytes,
			limits:     &usual,
		},
		lines: lines, path: p.path, rules: p.rules, explode: p.explode, columns: p.columns, readers: p.readers,
		base: first, bytesBefore: before, before: p.before, spool: p.spool, encoding: p.encoding, context: p.context,
	}
	j.context.Warn = p.context.Warn && p.rows == 0
	if err := j.read(ctx, data); err != nil {
		return nil, j.refusal(err)
	}
	if lines {
		return j, nil
	}
	if j.src.Size() <= usualReadBytes {
		j.blockBytes, j.oneBlock = usualBlockBytes, true
	}
	document := j.source
	if err := p.locate(ctx, j); err != nil {
		return nil, j.refusal(err)
	}
	if err := j.lookAround(ctx, document); err != nil {
		return nil, j.refusal(err)
	}
	return j, nil
}

// locate finds the records of a page.
func (p *Pages) locate(ctx context.Context, j *Table) error {
	switch {
	case j.path != nil:
		if steps, ok := j.path.Steps(); ok && strings.HasSuffix(j.path.String(), "[*]") {
			if err := j.wantList(ctx, steps, false); err != nil {
				// A table in another shape is one only where there is no doubt.
				j.doubtful = true
				if settled, _ := j.settleAt(ctx, steps); settled && p.rules > feedmill.RulesFirst {
					return nil
				}
				return err
			}
		}
		return j.locate(ctx)
	case p.place != nil && p.place.shape == shapeObjects && (p.opening == j.opening || p.opening == '['):
		if err := j.wantList(ctx, p.place.steps, true); err != nil {
			return err
		}
		return j.follow(ctx, p.place.steps)
	}
	return p.discover(ctx, j)
}

// count counts what was superseded in a page.
func (p *Pages) count(j *Table) error {
	if len(j.superseded) == 0 {
		j.superseded = nil
	}
	if p.superseded += len(j.superseded); p.superseded > maxSuperseded {
		return input.Refuse(invalidJSON, "keys on the path to the records are repeated more than %d times in all pages together", maxSuperseded)
	}
	return nil
}

// discover looks for the records of a page by itself.
func (p *Pages) discover(ctx context.Context, j *Table) error {
	expected := j.expected()
	if p.place != nil {
		expected = jsonpath.Text(p.place.steps)
	}
	place, err := locateRecords(ctx, j.source, wanted{rules: p.rules, path: expected, fields: p.fields})
	if err != nil {
		return err
	}
	if p.before != nil && jsonpath.Text(place.steps) != p.before.String() && (p.place == nil || p.place.shape == shapeObjects) {
		return j.stay(ctx, place)
	}
	if place.list != nil {
		place.steps = place.list
	} else if place.hollow && p.list {
		place.steps = []jsonpath.Step{jsonpath.IndexStep(-1)}
	} else if len(place.steps) > 0 && !place.nothing && p.place == nil {
		p.place, p.opening = &place, j.opening
	}
	if err := j.settle(ctx, place); err != nil {
		return err
	}
	if p.place != nil && p.place.shape != shapeObjects && p.rules > feedmill.RulesFirst {
		p.settled(j)
	}
	return nil
}

// settled makes the place of the records the one that was taken, where what was found turned
// out to be no table.
func (p *Pages) settled(j *Table) {
	switch {
	case j.shaped != nil:
		p.place.steps = j.shaped
	case len(j.steps) > 0:
		p.place.steps, p.place.shape = j.steps, shapeObjects
	default:
		p.place = nil
	}
}
