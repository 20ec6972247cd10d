package decode

import (
	"context"
	"slices"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/json"
)

// arrangement is which columns a table has of those of its pages: those that are picked,
// the others of the first page, those that pages are given, and what others come later.
type arrangement struct {
	feedmill.PageColumns
	used bool

	mu    sync.Mutex
	names []string
	// from is the column of the pages that each is, or -1; given says which of those
	// that pages are given it is, or -1.
	from, given []int
	text        []bool
	// known is how many columns of the pages have their place.
	known int
}

// Arrange says which columns the table has of those of the pages that [Pages.AddWith]
// adds. It is called before the first of them.
func (p *Pages) Arrange(columns feedmill.PageColumns) { p.arranged.PageColumns = columns }

// AddWith is [Pages.Add] for a page whose records get some more columns, the same ones
// in every page, and of whose own columns the table has those that [Pages.Arrange] says.
func (p *Pages) AddWith(ctx context.Context, format string, data Source, with []feedmill.PageColumn) (int64, error) {
	place := &placing{arrangement: &p.arranged}
	p.arranged.used = true
	for _, c := range with {
		cell, text := json.Cell(c.JSON)
		place.names = append(place.names, c.Name)
		place.given = append(place.given, cell)
		place.texts = append(place.texts, text)
	}
	return p.read(ctx, format, data, place)
}

// place finds the places of the columns that pages have so far.
func (a *arrangement) place(names, given []string) {
	add := func(name string, from, given int, text bool) {
		a.names, a.from, a.given, a.text = append(a.names, name), append(a.from, from), append(a.given, given), append(a.text, text)
	}
	first := a.names == nil
	if first {
		a.names = []string{}
		for _, c := range a.Pick {
			add(c.Name, -1, -1, c.Text)
		}
	}
	for ; a.known < len(names); a.known++ {
		name := names[a.known]
		picked := false
		for i, c := range a.Pick {
			if c.From == name && a.from[i] < 0 {
				a.from[i], picked = a.known, true
			}
		}
		taken := slices.Contains(given, name) || slices.ContainsFunc(a.Pick, func(c feedmill.PickedColumn) bool { return c.Name == name })
		if !picked && !taken && !a.Only {
			add(name, a.known, -1, false)
		}
	}
	if first {
		for i, name := range given {
			add(name, -1, i, false)
		}
	}
}

// placing puts the cells of one page where the table has them.
type placing struct {
	arrangement *arrangement
	reader      pageReader
	// names, given and texts are the columns that the page is given.
	names []string
	given []columnar.CellKind
	texts [][]byte
}

// of is fn for runs of the page, arranged.
func (p *placing) of(fn func(*columnar.Cells) error) func(*columnar.Cells) error {
	if p == nil {
		return fn
	}
	return func(cells *columnar.Cells) error { return fn(p.place(cells)) }
}

// place returns the cells with the columns of the table.
func (p *placing) place(cells *columnar.Cells) *columnar.Cells {
	a := p.arrangement
	a.mu.Lock()
	a.place(p.reader.Names(), p.names)
	from, given, text := a.from, a.given, a.text
	a.mu.Unlock()
	run := &columnar.Cells{First: cells.First, Rows: cells.Rows, Columns: len(from), Data: cells.Data[:len(cells.Data):len(cells.Data)]}
	same := make([]columnar.Cell, len(p.given))
	for i, kind := range p.given {
		start := len(run.Data)
		run.Data = append(run.Data, p.texts[i]...)
		same[i] = columnar.NewCell(kind, start, len(run.Data))
	}
	run.Cell = make([]columnar.Cell, run.Rows*run.Columns)
	for row := range run.Rows {
		out := run.Cell[row*run.Columns:][:run.Columns]
		for i := range out {
			switch {
			case given[i] >= 0:
				out[i] = same[given[i]]
			case from[i] >= 0:
				out[i] = cells.At(row, from[i])
			}
			if text[i] {
				out[i] = asText(out[i])
			}
			if out[i].Kind() == columnar.CellError {
				run.Errors++
			}
		}
	}
	return run
}

// asText is a cell whose text means nothing but itself.
func asText(cell columnar.Cell) columnar.Cell {
	switch kind := cell.Kind(); {
	case kind == columnar.CellPlain && cell.Empty(), kind == columnar.CellMissing, kind == columnar.CellNull, kind == columnar.CellError, kind == columnar.CellTrue, kind == columnar.CellFalse:
		return cell
	}
	start, end := cell.Range()
	return columnar.NewCell(columnar.CellString, int(start), int(end))
}
