package csv

import (
	"slices"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// places says where the columns of a page are in the table. Columns that only
// some records have become known while the page is read.
type places struct {
	pages *Pages
	// header is how many columns the page has by its header.
	header int

	columns []int
	nth     map[string]int
	// moved says that some column has another place than in the page.
	moved bool
}

// of is where the first so many columns of the page are; nil means that they are
// where they are in the page.
func (s *places) of(columns int) ([]int, error) {
	s.pages.mu.Lock()
	defer s.pages.mu.Unlock()
	for n := len(s.columns); n < columns; n++ {
		if err := s.add(extraName(n + 1 - s.header)); err != nil {
			return nil, err
		}
	}
	if !s.moved {
		return nil, nil
	}
	return s.columns, nil
}

// extend adds the columns of the header.
func (s *places) extend(names []string) error {
	s.pages.mu.Lock()
	defer s.pages.mu.Unlock()
	for _, name := range names {
		if err := s.add(name); err != nil {
			return err
		}
	}
	return nil
}

// add finds the place of the next column of the page.
func (s *places) add(name string) error {
	if s.nth == nil {
		s.nth = make(map[string]int)
	}
	key := nthName{name, s.nth[name]}
	s.nth[name]++
	p := s.pages
	at, known := p.byName[key]
	if !known {
		if len(p.names) >= maxFields {
			return input.Refuse("too-many-columns", "all pages together have more than %d columns, the maximum", maxFields)
		}
		if p.byName == nil {
			p.byName = make(map[nthName]int)
		}
		at = len(p.names)
		p.byName[key] = at
		p.names = append(p.names, name)
	}
	s.moved = s.moved || at != len(s.columns)
	s.columns = append(s.columns, at)
	return nil
}

// runs are those whose memory is free.
var runs = sync.Pool{New: func() any { return new(columnar.Cells) }}

// placed is fn for runs whose columns have other places in the table: columns
// says which, and width is how many the table has. Without columns it is fn.
func placed(columns []int, width func() int, fn func(*columnar.Cells) error) func(*columnar.Cells) error {
	if columns == nil {
		return fn
	}
	return func(cells *columnar.Cells) error {
		run := runs.Get().(*columnar.Cells)
		defer runs.Put(run)
		cell := run.Cell
		*run = columnar.Cells{First: cells.First, Rows: cells.Rows, Columns: width(), Data: cells.Data}
		size := run.Rows * run.Columns
		run.Cell = slices.Grow(cell[:0], size)[:size]
		clear(run.Cell)
		for row := range cells.Rows {
			from, to := cells.Cell[row*cells.Columns:][:cells.Columns], run.Cell[row*run.Columns:]
			for i, cell := range from {
				to[columns[i]] = cell
			}
		}
		err := fn(run)
		run.Data = nil
		return err
	}
}
