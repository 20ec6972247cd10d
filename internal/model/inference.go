// Package model makes typed columns of cells, by one set of rules for every
// format and source.
//
// An [Inference] scans every cell of the data, never at a sample, in any order
// and from several goroutines: what it learns of two runs of records merges into
// what it would have learnt of both. [Inference.Decide] then gives the [Schema], in
// which every value of the data has its place, and warns of what stayed
// text for a reason that the owner of the data should know.
// [Schema.Convert] makes vectors of the same cells, by the same rules: a value
// that is not exactly of its column's type is never rounded, nulled or dropped.
//
// What a single value looks like is its shape (shape.go); number.go, amount.go,
// time.go and dayorder.go read the texts. column.go holds what is known of a
// column, scan.go the loops that run over its cells, and decide.go the rules by
// which the shapes of all its values become a type. fit.go holds a later version
// of the data to the columns that a feed has.
package model

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share"
)

// Options say how data is modelled.
type Options struct {
	// Text leaves every column text, exactly as it stands in the data.
	Text bool
	// Rules is the version of the rules that values are read by.
	Rules feedmill.Rules
	// Year is when the feed was created, 0 where that is not known.
	Year int
	// Location is where times without an offset are from; nil is UTC.
	Location *time.Location
	// Set are the options that somebody has set, of which nulls, decimal and
	// dates are about values.
	Set feedmill.ReadingOptions
	// Before is what was found in the data that the feed has, which decides
	// where the new data proves nothing.
	Before feedmill.Findings
}

// Inference finds the types of columns. Its methods may be called from several
// goroutines.
type Inference struct {
	options Options
	nulls   nullTokens
	// formats are those that the source gives to columns of numbers.
	formats []string

	mu   sync.Mutex
	free []*partial // those that no goroutine works with
	all  []*partial
	// largest is how many bytes the largest run has.
	largest int
}

// partial is what was learnt of some of the runs.
type partial struct {
	rows    int64
	columns []*column
	// scanned is how many cells were scanned since others had a turn.
	scanned int
}

// New returns an inference that has seen nothing.
func New(options Options) *Inference {
	nulls := newNullTokens(options.Set.Nulls)
	if options.Rules == feedmill.RulesOriginal && options.Set.Nulls == "" {
		nulls = newNullTokens("none")
	}
	nulls.original = options.Rules == feedmill.RulesOriginal
	return &Inference{options: options, nulls: nulls}
}

// Block scans a run of records. Errors become null cells in it, and texts that
// somebody has said mean null are marked.
func (f *Inference) Block(cells *columnar.Cells) {
	if !f.options.Text {
		f.nulls.mark(cells)
	}
	p := f.takePartial(len(cells.Data))
	defer f.givePartial(p)
	var long share.Long
	defer long.End()
	if takesLong(cells) {
		long.Step()
	}
	p.rows += int64(cells.Rows)
	for len(p.columns) < cells.Columns {
		c := newColumn()
		if f.options.Location != nil {
			c.clock = &localClock{location: f.options.Location}
		}
		p.columns = append(p.columns, c)
	}
	for _, c := range p.columns {
		c.givenUp = c.givenUp || f.options.Text
	}
	replaceErrors(cells, p.columns)
	for tile := range tiles(cells) {
		for i := range cells.Columns {
			p.columns[i].scan(&tile, i, &f.nulls)
			if p.scanned += 1 + tile.Rows; p.scanned >= tileCells {
				p.scanned = 0
				long.Step()
			}
		}
	}
}

// replaceErrors makes errors null, and counts them in the columns where there are
// any.
func replaceErrors(cells *columnar.Cells, columns []*column) {
	for i := 0; cells.Errors > 0 && i < len(cells.Cell); i++ {
		cell := cells.Cell[i]
		if cell.Kind() != columnar.CellError {
			continue
		}
		if columns != nil {
			columns[i%cells.Columns].errors.add(cells.First+int64(i/cells.Columns), cells.Text(cell))
		}
		cells.Cell[i] = columnar.NewCell(columnar.CellNull, 0, 0)
		cells.Errors--
	}
}

// tileCells is how many cells are worked on column by column before the next
// rows are taken, so that they and their texts stay in the fastest memory.
const tileCells = 8 << 10

// wideRows is from how many columns on a single row is work that takes long: rows come one by one
// where each has a column of its own. longTexts is from how many bytes on a single cell is.
const wideRows, longTexts = 1 << 10, 256 << 10

// takesLong reports whether even a few rows of a run are work that takes long.
func takesLong(cells *columnar.Cells) bool {
	return cells.Columns >= wideRows || len(cells.Data) >= longTexts
}

// tiles cuts a run into a few rows at a time.
func tiles(cells *columnar.Cells) iter.Seq[columnar.Cells] {
	return cut(cells, max(64, tileCells/max(cells.Columns, 1)&^63))
}

// cut cuts a run into so many rows at a time.
func cut(cells *columnar.Cells, step int) iter.Seq[columnar.Cells] {
	return func(yield func(columnar.Cells) bool) {
		for row := 0; row < cells.Rows; row += step {
			rows := min(step, cells.Rows-row)
			part := columnar.Cells{
				First: cells.First + int64(row), Rows: rows, Columns: cells.Columns,
				Data: cells.Data, Cell: cells.Cell[row*cells.Columns : (row+rows)*cells.Columns],
			}
			if !yield(part) {
				return
			}
		}
	}
}

// takePartial takes a partial for a run of so many bytes.
func (f *Inference) takePartial(size int) *partial {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.largest = max(f.largest, size)
	if last := len(f.free) - 1; last >= 0 {
		p := f.free[last]
		f.free = f.free[:last]
		return p
	}
	p := &partial{}
	f.all = append(f.all, p)
	return p
}

func (f *Inference) givePartial(p *partial) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, p)
}

// Decide gives the types of the columns, after the last run. The names are what
// the data calls them, empty where it does not; columns that the data has and
// that are not among them have no names. Found is how the data is written.
func (f *Inference) Decide(names []string, found feedmill.Findings) (*Schema, []feedmill.Warning) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all partial
	for _, p := range f.all {
		all.rows += p.rows
		for i, c := range p.columns {
			if i == len(all.columns) {
				all.columns = append(all.columns, newColumn())
			}
			all.columns[i].merge(c)
		}
	}
	for len(all.columns) < len(names) {
		all.columns = append(all.columns, newColumn())
	}
	names = slices.Concat(names, make([]string, max(0, len(all.columns)-len(names))))
	unique, warnings := columnNames(names)
	for _, c := range all.columns {
		c.nulls += all.rows - c.rows // the runs that end before this column
	}
	e := f.weigh(all.columns, found)
	s := &Schema{Rows: all.rows, options: f.options, location: f.options.Location, nulls: f.nulls, text: f.options.Text, largest: f.largest}
	for i, c := range all.columns {
		c.thousands = e.assumes && names[i] != "" && slices.Contains(f.options.Before.Thousands, names[i])
		c.birth, c.original = isBirth(names[i]), f.nulls.original
		d := c.decide(f.options.Text, e)
		if c.thousands && !e.decimalsSet && d.plan.decimals == comma {
			s.opposite = append(s.opposite, names[i])
		}
		if names[i] != "" && (d.thousands || c.thousands && c.read == both) {
			found.Thousands = append(found.Thousands, names[i])
		}
		if i < len(f.formats) {
			d.formatted(c, f.formats[i])
		}
		d.column.ID = columnID(i)
		d.column.Name, d.column.SourceName = unique[i], names[i]
		for _, w := range d.warnings {
			w.Column = unique[i]
			warnings = append(warnings, w)
		}
		s.Columns = append(s.Columns, d.column)
		s.plans = append(s.plans, d.plan)
		s.found = append(s.found, d.column.Type)
	}
	s.Found = f.findings(found, e, all.columns, s)
	if w, any := assumedHeader(s); any {
		warnings = append(warnings, w)
	}
	return s, warnings
}

// assumedHeader warns of names that nothing proves to be names: every column is text, and so
// are they.
func assumedHeader(s *Schema) (feedmill.Warning, bool) {
	header := s.Found.Header
	if header.By != feedmill.ByAssumed || header.Value == "none" || s.Rows == 0 {
		return feedmill.Warning{}, false
	}
	for _, c := range s.Columns {
		if c.Type != columnar.TypeText {
			return feedmill.Warning{}, false
		}
	}
	return feedmill.Warning{
		Code: feedmill.WarnAssumedHeader, Count: 1,
		Detail: fmt.Sprintf("Line %s was assumed to be the header; the data does not prove it because all columns are text. Set header=none if that line is data, or header=%s to confirm the assumption.", header.Value, header.Value),
	}, true
}
