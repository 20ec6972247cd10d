package decode

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// tablePages are pages each of which is opened as a table of its own. Columns of the same
// name are the same.
type tablePages struct {
	options Options
	names   []string
	byName  map[string]int
	found   feedmill.Findings
}

func (p *tablePages) Names() []string { return slices.Clone(p.names) }

func (p *tablePages) Width() int { return len(p.names) }

func (p *tablePages) Column(name string) int {
	if at, known := p.byName[name]; known {
		return at
	}
	return -1
}

// Found is how the first page that has records is written, such as which sheets it has.
func (p *tablePages) Found() feedmill.Findings { return p.found }

// add takes a page that was opened in, and gives its records to each.
func (p *tablePages) add(ctx context.Context, table Table, in pageData) (page, []feedmill.Warning, error) {
	t := &tablePage{Table: table, first: in.first}
	if len(p.names) == 0 || p.found.Path.By == feedmill.ByAssumed {
		p.found = table.Found()
	}
	if err := p.place(t); err != nil {
		return nil, nil, err
	}
	if err := table.Each(ctx, input.PageWorkers(in.data), t.placed(in.each)); err != nil {
		return nil, nil, err
	}
	warnings, err := table.Warnings()
	// That there is nothing is for all pages together to say.
	warnings = slices.DeleteFunc(warnings, func(w feedmill.Warning) bool { return w.Code == feedmill.WarnNoRows })
	return t, warnings, err
}

// place finds the columns of a page among those of all.
func (p *tablePages) place(t *tablePage) error {
	if p.byName == nil {
		p.byName = make(map[string]int)
	}
	names := t.Names()
	if t.Blocks() == 0 {
		names = nil // there is nothing that they could be names of
	}
	for _, name := range names {
		at, known := p.byName[name]
		if !known {
			if at = len(p.names); at == input.MaxColumns {
				return input.Refuse("too-many-columns", "all pages together have more than %d columns, the maximum", input.MaxColumns)
			}
			p.byName[name], p.names = at, append(p.names, name)
		}
		t.columns = append(t.columns, at)
	}
	t.width = len(p.names)
	return nil
}

// tablePage is a page that was opened as a table of its own.
type tablePage struct {
	Table
	first int64
	// columns says which one of all pages each column is, of which there were so many then.
	columns []int
	width   int
}

func (t *tablePage) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	return t.Table.Read(ctx, from, to, t.placed(fn))
}

// placed is fn for runs whose records and columns have their places among those of all pages.
func (t *tablePage) placed(fn func(*columnar.Cells) error) func(*columnar.Cells) error {
	same := t.width == len(t.columns)
	for i, at := range t.columns {
		same = same && i == at
	}
	return func(cells *columnar.Cells) error {
		if same {
			cells.First += t.first
			defer func() { cells.First -= t.first }()
			return fn(cells)
		}
		run := columnar.Cells{
			First: cells.First + t.first, Rows: cells.Rows, Columns: t.width, Data: cells.Data, Errors: cells.Errors,
			Cell: make([]columnar.Cell, cells.Rows*t.width),
		}
		for row := range cells.Rows {
			for i, cell := range cells.Cell[row*cells.Columns:][:cells.Columns] {
				run.Cell[row*t.width+t.columns[i]] = cell
			}
		}
		return fn(&run)
	}
}
